#include "workload/operators/estimator_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/estimator_shapes.h"
#include "workload/operators/microseconds.h"

namespace astra {
namespace {

// Largest size. A larger value is a mistake; up to this one no number of bytes
// overflows.
constexpr int64_t kMaxSize = int64_t{1} << 18;

// Sizes of a row; sizes that the operator does not depend on are 1.
struct Row {
  int64_t mp = 1;
  int64_t b = 1;
  int64_t h = 1;
  int64_t l = 1;
  int64_t dim = 1;
};

int64_t Positions(const Row& row) { return row.b * row.l; }

EstimatorSizes SizesOf(const Row& row) {
  return {.tensor = static_cast<double>(row.mp),
          .sequences = static_cast<double>(row.b),
          .heads = static_cast<double>(row.h),
          .positions = static_cast<double>(row.l),
          .hidden = static_cast<double>(row.dim)};
}

int64_t LocalVocabulary(const Row& row) {
  return static_cast<int64_t>(SizesOf(row).local_vocabulary());
}

OperatorShape ShapeOf(const EstimatorProduct& product) {
  return Gemm{.groups = 1,
              .m = static_cast<int64_t>(product.rows),
              .n = static_cast<int64_t>(product.out),
              .k = static_cast<int64_t>(product.in)};
}

OperatorShape Flash(const Row& row) {
  const int64_t heads = row.h / row.mp;
  const int64_t head_dim = row.dim / row.h;
  return Attention{.batch = row.b,
                   .queries = row.l,
                   .keys = row.l,
                   .heads = heads,
                   .kv_heads = heads,
                   .qk_dim = head_dim,
                   .v_dim = head_dim,
                   .causal = false};
}
OperatorShape FlashBackward(const Row& row) {
  Attention attention = std::get<Attention>(Flash(row));
  attention.backward = true;
  return attention;
}

// These streams count elements; the precision turns elements into bytes.
OperatorShape Elements(int64_t count) { return Stream{.bytes = count}; }
OperatorShape TwoHidden(const Row& row) {
  return Elements(2 * Positions(row) * row.dim);
}
OperatorShape ThreeHidden(const Row& row) {
  return Elements(3 * Positions(row) * row.dim);
}
OperatorShape TwoExpanded(const Row& row) {
  return Elements(2 * Positions(row) * 4 * row.dim / row.mp);
}
OperatorShape ThreeExpanded(const Row& row) {
  return Elements(3 * Positions(row) * 4 * row.dim / row.mp);
}
OperatorShape TwoLocal(const Row& row) {
  return Elements(2 * Positions(row) * row.dim / row.mp);
}
OperatorShape Logits(const Row& row) {
  return Elements(13 * Positions(row) * LocalVocabulary(row));
}
OperatorShape LogitGradients(const Row& row) {
  return Elements(5 * Positions(row) * LocalVocabulary(row));
}

using ShapeFunction = OperatorShape (*)(const Row&);

// Names of the columns with sizes.
using Sizes = absl::Span<const std::string_view>;
constexpr std::string_view kOfHeads[] = {"mp", "b", "h", "l", "dim"};
constexpr std::string_view kOfPart[] = {"mp", "b", "l", "dim"};
constexpr std::string_view kOfWhole[] = {"b", "l", "dim"};
constexpr std::string_view kOfLogits[] = {"mp", "b", "l"};

struct Known {
  std::string_view in_file;
  Sizes sizes;
  std::string_view name;
  ShapeFunction forward;   // nullptr: EstimatorProductOf() has the shape.
  ShapeFunction backward;  // nullptr: the backward pass is left out.
};
constexpr Known kKnown[] = {
    {"linear1", kOfPart, "linear1", nullptr, nullptr},
    {"linear2", kOfPart, "linear2", nullptr, nullptr},
    {"linear3", kOfPart, "linear3", nullptr, nullptr},
    {"linear4", kOfPart, "linear4", nullptr, nullptr},
    {"linear_final", kOfPart, "linear_final", nullptr, nullptr},
    {"flash_atten", kOfHeads, "attention", Flash, FlashBackward},
    {"embedding", kOfPart, "embedding", TwoHidden, nullptr},
    {"layernorm", kOfWhole, "layer_norm", TwoHidden, ThreeHidden},
    {"RMSlayernorm", kOfWhole, "rms_norm", TwoHidden, ThreeHidden},
    {"gelu", kOfPart, "gelu", TwoExpanded, ThreeExpanded},
    {"RoPE", kOfHeads, "rope", TwoLocal, TwoLocal},
    {"res_add", kOfWhole, "residual_add", ThreeHidden, nullptr},
    {"parallel_cross_entropy_128", kOfLogits, "cross_entropy", Logits,
     LogitGradients},
};

const Known* FindKnown(std::string_view in_file) {
  for (const Known& known : kKnown) {
    if (known.in_file == in_file) return &known;
  }
  return nullptr;
}

class EstimatorParser {
 public:
  EstimatorParser(std::string_view file, std::string_view contents,
                  std::string_view gpu, const Known& known, Precision precision)
      : csv_(file, contents), known_(known) {
    model_.gpu = gpu;
    model_.name = known.name;
    model_.precision = precision;
    model_.source = fmt::format("estimator table {}", file);
  }

  absl::Status Parse() {
    f_dur_ = csv_.Column("F_dur(us)");
    b_dur_ = csv_.Column("B_dur(us)");
    while (csv_.NextRow()) ReadSamples();
    return csv_.status();
  }

  // Returns whether the backward passes of attention take less time than the
  // forward passes, summed over all rows.
  bool HasFalseBackward() const {
    return known_.backward == FlashBackward && backward_us_ < forward_us_;
  }

  std::vector<OperatorSample> TakeSamples() {
    std::vector<OperatorSample> all = std::move(forward_samples_);
    if (!HasFalseBackward()) {
      all.insert(all.end(), backward_samples_.begin(), backward_samples_.end());
    }
    return all;
  }

 private:
  void ReadSamples() {
    const Row row = ReadRow();
    const double forward = Duration(f_dur_);
    const double backward = Duration(b_dur_);
    if (!csv_.status().ok()) return;
    Add(ForwardShape(row), forward, &forward_samples_);
    if (known_.backward == nullptr) return;
    Add(known_.backward(row), backward, &backward_samples_);
    forward_us_ += forward;
    backward_us_ += backward;
  }

  double Duration(size_t column) {
    return csv_.Number(column, kMinMicroseconds, kMaxMicroseconds);
  }

  Row ReadRow() {
    Row row = {.mp = Size("mp"),
               .b = Size("b"),
               .h = Size("h"),
               .l = Size("l"),
               .dim = Size("dim")};
    Divides("mp", row.mp, "dim", row.dim);
    Divides("mp", row.mp, "h", row.h);
    Divides("h", row.h, "dim", row.dim);
    return row;
  }

  // Returns a size of the row; 1 if the operator does not depend on it. The
  // tables of some GPUs have "2.0" for 2.
  int64_t Size(std::string_view name) {
    if (!Has(name)) return 1;
    const size_t column = csv_.Column(name);
    if (!csv_.status().ok()) return 1;
    const double value = csv_.Number(column, 1, static_cast<double>(kMaxSize));
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) != value) {
      csv_.Fail(csv_.cell(column), fmt::format("{} is no whole number", name));
    }
    return whole;
  }

  void Divides(std::string_view divisor_name, int64_t divisor,
               std::string_view name, int64_t value) {
    if (!Has(name) || value % divisor == 0 || !csv_.status().ok()) return;
    csv_.Fail(csv_.cell(csv_.Column(name)),
              fmt::format("{} is no multiple of {} = {}", name, divisor_name,
                          divisor));
  }

  bool Has(std::string_view size) const {
    return std::find(known_.sizes.begin(), known_.sizes.end(), size) !=
           known_.sizes.end();
  }

  OperatorShape ForwardShape(const Row& row) const {
    if (known_.forward != nullptr) return known_.forward(row);
    return ShapeOf(*EstimatorProductOf(known_.in_file, SizesOf(row)));
  }

  void Add(const OperatorShape& shape, double us,
           std::vector<OperatorSample>* samples) const {
    OperatorSample sample = model_;
    sample.shape = shape;
    if (auto* stream = std::get_if<Stream>(&sample.shape)) {
      stream->bytes *= static_cast<int64_t>(BytesOf(sample.precision));
    }
    sample.time = FromMicroseconds(us);
    samples->push_back(std::move(sample));
  }

  CsvReader csv_;
  const Known& known_;
  OperatorSample model_;  // All but shape and time.
  size_t f_dur_ = 0;
  size_t b_dur_ = 0;
  double forward_us_ = 0;  // Sum over all rows.
  double backward_us_ = 0;
  std::vector<OperatorSample> forward_samples_;
  std::vector<OperatorSample> backward_samples_;
};

}  // namespace

bool IsEstimatorTable(const CsvReader& csv) {
  return csv.Find("F_dur(us)") || csv.Find("dur(us)") || csv.Find("dur");
}

absl::StatusOr<std::vector<OperatorSample>> ParseEstimatorTable(
    std::string_view file, std::string_view contents, std::string_view gpu,
    Warnings* warnings) {
  const std::optional<EstimatorFileName> name = SplitEstimatorFileName(file);
  if (!name) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected a file named GPU_OPERATOR_PRECISION.csv", file));
  }
  const std::optional<Precision> precision = PrecisionOf(name->precision);
  if (!precision) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", file,
                    UnknownName("precision", name->precision,
                                {"fp32", "bf16", "fp16", "fp8"})));
  }
  const Known* known = FindKnown(name->op);
  if (known == nullptr) {
    warnings->push_back(
        fmt::format("{}: operator {} is not used", file, Quoted(name->op)));
    return std::vector<OperatorSample>();
  }
  EstimatorParser parser(file, contents, gpu, *known, *precision);
  ASTRA_RETURN_IF_ERROR(parser.Parse());
  if (parser.HasFalseBackward()) {
    warnings->push_back(
        fmt::format("{}: the backward pass takes less time than the forward "
                    "pass and is not used",
                    file));
  }
  return parser.TakeSamples();
}

}  // namespace astra
