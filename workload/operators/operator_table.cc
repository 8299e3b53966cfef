#include "workload/operators/operator_table.h"

#include <array>
#include <cstddef>
#include <optional>
#include <variant>

#include "astra-core/base/csv.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/operators/estimator_table.h"
#include "workload/operators/microseconds.h"
#include "workload/operators/vidur_table.h"

namespace astra {
namespace {

enum Column : size_t {
  kGpu,
  kOperator,
  kPrecision,
  kGroups,
  kM,
  kN,
  kK,
  kBatch,
  kQueries,
  kKeys,
  kHeads,
  kKvHeads,
  kQkDim,
  kVDim,
  kCausal,
  kWindow,
  kBackward,
  kBytes,
  kTimeUs,
  kSource,
  kNumColumns
};
constexpr std::string_view kColumns[] = {
    "gpu",    "operator", "precision", "groups", "m",        "n",      "k",
    "batch",  "queries",  "keys",      "heads",  "kv_heads", "qk_dim", "v_dim",
    "causal", "window",   "backward",  "bytes",  "time_us",  "source"};
static_assert(std::size(kColumns) == kNumColumns);

constexpr Column kFirstOfShape = kGroups;
constexpr Column kLastOfShape = kBytes;

constexpr Column kOfProduct[] = {kGroups, kM, kN, kK};
constexpr Column kOfAttention[] = {kBatch,   kQueries, kKeys, kHeads,
                                   kKvHeads, kQkDim,   kVDim, kCausal,
                                   kWindow,  kBackward};
constexpr Column kOfDeltaRule[] = {kBatch, kQueries, kHeads,
                                   kQkDim, kVDim,    kBackward};
constexpr Column kOfStream[] = {kBytes};

// Kinds of rows. A row is of the first kind whose column `tells` it fills.
struct Kind {
  std::string_view what;
  Column tells;
  absl::Span<const Column> columns;
};
constexpr Kind kProduct = {"a product", kM, kOfProduct};
constexpr Kind kAttention = {"attention", kKeys, kOfAttention};
constexpr Kind kDeltaRule = {"a delta rule", kQueries, kOfDeltaRule};
constexpr Kind kStream = {"a stream", kBytes, kOfStream};
constexpr const Kind* kKinds[] = {&kProduct, &kAttention, &kDeltaRule,
                                  &kStream};

bool Has(const Kind& kind, Column column) {
  for (const Column own : kind.columns) {
    if (own == column) return true;
  }
  return false;
}

class OperatorTableParser {
 public:
  OperatorTableParser(std::string_view file, std::string_view contents)
      : csv_(file, contents) {}

  absl::StatusOr<OperatorSamples> Parse() {
    csv_.RefuseOthers(kColumns);
    for (const Column column : {kGpu, kOperator, kPrecision, kTimeUs}) {
      csv_.Column(kColumns[column]);
    }
    for (size_t i = 0; i < kNumColumns; ++i) place_[i] = csv_.Find(kColumns[i]);
    OperatorSamples samples;
    while (csv_.NextRow()) samples.push_back(ReadSample());
    ASTRA_RETURN_IF_ERROR(csv_.status());
    return samples;
  }

 private:
  OperatorSample ReadSample() {
    OperatorSample sample;
    sample.gpu = ReadName(kGpu);
    sample.line = csv_.cell(*place_[kGpu]).line;
    sample.column = csv_.cell(*place_[kGpu]).column;
    sample.name = ReadName(kOperator);
    sample.precision = ReadPrecision();
    sample.shape = ReadShape();
    sample.time = FromMicroseconds(
        csv_.Number(*place_[kTimeUs], kMinMicroseconds, kMaxMicroseconds));
    if (place_[kSource]) sample.source = csv_.cell(*place_[kSource]).text;
    return sample;
  }

  std::string ReadName(Column column) {
    const CsvCell& cell = csv_.cell(*place_[column]);
    if (cell.text.empty() || !IsPlain(cell.text)) {
      csv_.Fail(cell, fmt::format("{} is {}: expected a name", kColumns[column],
                                  Quoted(cell.text)));
    }
    return cell.text;
  }

  Precision ReadPrecision() {
    const CsvCell& cell = csv_.cell(*place_[kPrecision]);
    const std::optional<Precision> precision = PrecisionOf(cell.text);
    if (!precision) {
      csv_.Fail(cell, UnknownName("precision", cell.text,
                                  {"fp32", "bf16", "fp16", "fp8"}));
    }
    return precision.value_or(Precision::kBf16);
  }

  OperatorShape ReadShape() {
    const Kind* kind = KindOfRow();
    if (kind == nullptr) return Stream{};
    for (size_t i = kFirstOfShape; i <= kLastOfShape; ++i) {
      const auto column = static_cast<Column>(i);
      if (!IsFilled(column) || Has(*kind, column)) continue;
      csv_.Fail(csv_.cell(*place_[column]),
                fmt::format("{} has no {}", kind->what, kColumns[column]));
    }
    if (kind == &kProduct) return ReadProduct();
    if (kind == &kAttention) return ReadAttention();
    if (kind == &kDeltaRule) return ReadDeltaRule();
    return Stream{.bytes = Size(kBytes, kMaxSampleBytes)};
  }

  const Kind* KindOfRow() {
    for (const Kind* kind : kKinds) {
      if (IsFilled(kind->tells)) return kind;
    }
    csv_.Fail(csv_.cell(0), "no shape: expected m, keys, queries or bytes");
    return nullptr;
  }

  Gemm ReadProduct() {
    return {.groups = SizeOr(kGroups, 1),
            .m = Size(kM),
            .n = Size(kN),
            .k = Size(kK)};
  }

  Attention ReadAttention() {
    return {.batch = Size(kBatch),
            .queries = Size(kQueries),
            .keys = Size(kKeys),
            .heads = Size(kHeads),
            .kv_heads = Size(kKvHeads),
            .qk_dim = Size(kQkDim),
            .v_dim = Size(kVDim),
            .causal = FlagOr(kCausal, true),
            .window = SizeOr(kWindow, 0),
            .backward = FlagOr(kBackward, false)};
  }

  DeltaRule ReadDeltaRule() {
    return {.batch = Size(kBatch),
            .positions = Size(kQueries),
            .heads = Size(kHeads),
            .key_dim = Size(kQkDim),
            .value_dim = Size(kVDim),
            .backward = FlagOr(kBackward, false)};
  }

  bool IsFilled(Column column) const {
    return place_[column] && !csv_.cell(*place_[column]).text.empty();
  }

  int64_t Size(Column column, int64_t max = kMaxSampleSize) {
    if (IsFilled(column)) return csv_.Integer(*place_[column], 1, max);
    const CsvCell& at = csv_.cell(place_[column].value_or(0));
    csv_.Fail(at,
              fmt::format("{} lacks {}", KindOfRow()->what, kColumns[column]));
    return 1;
  }

  int64_t SizeOr(Column column, int64_t otherwise) {
    if (!IsFilled(column)) return otherwise;
    return csv_.Integer(*place_[column], otherwise, kMaxSampleSize);
  }

  bool FlagOr(Column column, bool otherwise) {
    if (!IsFilled(column)) return otherwise;
    const CsvCell& cell = csv_.cell(*place_[column]);
    if (cell.text != "true" && cell.text != "false") {
      csv_.Fail(cell, fmt::format("{} is {}: expected true or false",
                                  kColumns[column], Quoted(cell.text)));
    }
    return cell.text == "true";
  }

  CsvReader csv_;
  // Position of each column in the file.
  std::array<std::optional<size_t>, kNumColumns> place_;
};

// The cells of a row.
class RowWriter {
 public:
  explicit RowWriter(const OperatorSample& sample) {
    cells_[kGpu] = sample.gpu;
    cells_[kOperator] = sample.name;
    cells_[kPrecision] = Name(sample.precision);
    cells_[kTimeUs] = MicrosecondsText(sample.time);
    cells_[kSource] = sample.source;
    std::visit([this](const auto& shape) { Write(shape); }, sample.shape);
    for (std::string& cell : cells_) cell = CsvField(cell);
  }

  std::string Line() const {
    return fmt::format("{}\n", fmt::join(cells_, ","));
  }

 private:
  void Write(const Gemm& gemm) {
    Set(kGroups, gemm.groups);
    Set(kM, gemm.m);
    Set(kN, gemm.n);
    Set(kK, gemm.k);
  }
  void Write(const Attention& attention) {
    Set(kBatch, attention.batch);
    Set(kQueries, attention.queries);
    Set(kKeys, attention.keys);
    Set(kHeads, attention.heads);
    Set(kKvHeads, attention.kv_heads);
    Set(kQkDim, attention.qk_dim);
    Set(kVDim, attention.v_dim);
    Set(kCausal, attention.causal);
    Set(kWindow, attention.window);
    Set(kBackward, attention.backward);
  }
  void Write(const DeltaRule& rule) {
    Set(kBatch, rule.batch);
    Set(kQueries, rule.positions);
    Set(kHeads, rule.heads);
    Set(kQkDim, rule.key_dim);
    Set(kVDim, rule.value_dim);
    Set(kBackward, rule.backward);
  }
  void Write(const Stream& stream) { Set(kBytes, stream.bytes); }

  template <class Value>
  void Set(Column column, Value value) {
    cells_[column] = fmt::format("{}", value);
  }

  std::array<std::string, kNumColumns> cells_;
};

}  // namespace

absl::StatusOr<OperatorSamples> ParseOperatorTable(std::string_view file,
                                                   std::string_view contents) {
  return OperatorTableParser(file, contents).Parse();
}

std::string FormatOperatorTable(absl::Span<const OperatorSample> samples) {
  std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const OperatorSample& sample : samples) text += RowWriter(sample).Line();
  return text;
}

bool NamesItsGpu(std::string_view file, std::string_view contents) {
  const CsvReader csv(file, contents);
  return !IsVidurTable(csv) && !IsEstimatorTable(csv);
}

absl::StatusOr<OperatorSamples> ParseAnyOperatorTable(std::string_view file,
                                                      std::string_view contents,
                                                      std::string_view gpu,
                                                      Warnings* warnings) {
  const CsvReader csv(file, contents);
  ASTRA_RETURN_IF_ERROR(csv.status());
  const bool is_vidur = IsVidurTable(csv);
  const bool is_estimator = IsEstimatorTable(csv);
  if (!is_vidur && !is_estimator) {
    if (!gpu.empty()) {
      warnings->push_back(fmt::format(
          "{}: the table names its GPUs: --table-gpu {} has no effect on it",
          file, gpu));
    }
    return ParseOperatorTable(file, contents);
  }
  if (gpu.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the table does not say on which GPU it was measured: "
                    "say so with --table-gpu NAME",
                    file));
  }
  if (is_vidur) return ParseVidurTable(file, contents, gpu, warnings);
  return ParseEstimatorTable(file, contents, gpu, warnings);
}

absl::StatusOr<OperatorSamples> ReadOperatorTable(const std::string& path,
                                                  std::string_view gpu,
                                                  Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseAnyOperatorTable(path, contents, gpu, warnings);
}

}  // namespace astra
