#include "workload/operators/vidur_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/microseconds.h"

namespace astra {
namespace {

constexpr std::string_view kTimePrefix = "time_stats.";
constexpr double kUsPerMs = 1e3;
constexpr double kMinMilliseconds = 1e-9;
constexpr double kMaxMilliseconds = 1e6;

// Largest size. A larger value is a mistake; up to this one no number of bytes
// overflows.
constexpr int64_t kMaxSize = int64_t{1} << 20;

struct Row {
  int64_t tokens;
  int64_t tp;
  int64_t hidden;
  int64_t heads;
  int64_t kv_heads;
  int64_t expanded;
  bool gated;
};

Gemm Product(int64_t m, int64_t n, int64_t k) {
  return {.groups = 1, .m = m, .n = n, .k = k};
}
Stream Elements(int64_t count) { return {.bytes = 2 * count}; }

int64_t HeadDim(const Row& row) { return row.hidden / row.heads; }

// Returns the key heads of one GPU. GPUs hold copies where there are fewer
// heads.
int64_t LocalKvHeads(const Row& row) {
  return std::max<int64_t>(1, row.kv_heads / row.tp);
}

OperatorShape PreProjection(const Row& row) {
  const int64_t heads = row.heads / row.tp + 2 * LocalKvHeads(row);
  return Product(row.tokens, heads * HeadDim(row), row.hidden);
}
OperatorShape PostProjection(const Row& row) {
  return Product(row.tokens, row.hidden, row.hidden / row.tp);
}
OperatorShape UpProjection(const Row& row) {
  return Product(row.tokens, (row.gated ? 2 : 1) * row.expanded / row.tp,
                 row.hidden);
}
OperatorShape DownProjection(const Row& row) {
  return Product(row.tokens, row.hidden, row.expanded / row.tp);
}
OperatorShape ReadAndWritten(const Row& row) {
  return Elements(2 * row.tokens * row.hidden);
}
OperatorShape Rotation(const Row& row) {
  const int64_t heads = row.heads / row.tp + LocalKvHeads(row);
  return Elements(2 * row.tokens * heads * HeadDim(row));
}
OperatorShape Activation(const Row& row) {
  return Elements((row.gated ? 3 : 2) * row.tokens * row.expanded / row.tp);
}
OperatorShape Addition(const Row& row) {
  return Elements(3 * row.tokens * row.hidden);
}

struct Timed {
  std::string_view column;  // Part between "time_stats." and ".median".
  std::string_view name;    // Name of the operator.
  OperatorShape (*shape)(const Row&);
};
constexpr Timed kTimed[] = {
    {"attn_pre_proj", "attn_pre_proj", PreProjection},
    {"attn_post_proj", "attn_post_proj", PostProjection},
    {"mlp_up_proj", "mlp_up_proj", UpProjection},
    {"mlp_down_proj", "mlp_down_proj", DownProjection},
    {"emb", "embedding", ReadAndWritten},
    {"input_layernorm", "rms_norm", ReadAndWritten},
    {"post_attention_layernorm", "rms_norm", ReadAndWritten},
    {"attn_rope", "rope", Rotation},
    {"mlp_act", "swiglu", Activation},
    {"add", "residual_add", Addition},
};

std::string NameOf(const Timed& timed, const Row& row) {
  const bool is_plain = timed.shape == Activation && !row.gated;
  return is_plain ? "gelu" : std::string(timed.name);
}

class VidurParser {
 public:
  VidurParser(std::string_view file, std::string_view contents,
              std::string_view gpu)
      : csv_(file, contents),
        gpu_(gpu),
        source_(fmt::format("Vidur profile {}", file)) {}

  absl::StatusOr<std::vector<OperatorSample>> Parse(Warnings* warnings) {
    for (size_t i = 0; i < std::size(kTimed); ++i) {
      place_[i] = csv_.Column(
          fmt::format("{}{}.median", kTimePrefix, kTimed[i].column));
    }
    FindSizes();
    WarnOfOthers(warnings);
    std::vector<OperatorSample> samples;
    while (csv_.NextRow()) AddSamples(&samples);
    ASTRA_RETURN_IF_ERROR(csv_.status());
    return samples;
  }

 private:
  void FindSizes() {
    tokens_ = csv_.Column("num_tokens");
    tp_ = csv_.Column("num_tensor_parallel_workers");
    hidden_ = csv_.Column("n_embd");
    heads_ = csv_.Column("n_head");
    kv_heads_ = csv_.Column("n_kv_head");
    expanded_ = csv_.Column("n_expanded_embd");
    gated_ = csv_.Column("use_gated_mlp");
  }

  void WarnOfOthers(Warnings* warnings) const {
    std::vector<std::string> names = {"",
                                      "n_embd",
                                      "n_head",
                                      "n_kv_head",
                                      "n_expanded_embd",
                                      "vocab_size",
                                      "use_gated_mlp",
                                      "num_tokens",
                                      "num_tensor_parallel_workers"};
    for (const Timed& timed : kTimed) {
      for (const char* of : {"min", "max", "mean", "median", "std"}) {
        names.push_back(fmt::format("{}{}.{}", kTimePrefix, timed.column, of));
      }
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    csv_.WarnOfOthers(known, warnings);
  }

  Row ReadRow() {
    const Row row = {.tokens = Size(tokens_),
                     .tp = Size(tp_),
                     .hidden = Size(hidden_),
                     .heads = Size(heads_),
                     .kv_heads = Size(kv_heads_),
                     .expanded = Size(expanded_),
                     .gated = Gated()};
    Divides(row.heads, row.hidden, hidden_, "n_head");
    Divides(row.tp, row.heads, heads_, "num_tensor_parallel_workers");
    Divides(row.tp, row.hidden, hidden_, "num_tensor_parallel_workers");
    Divides(row.tp, row.expanded, expanded_, "num_tensor_parallel_workers");
    return row;
  }

  int64_t Size(size_t column) { return csv_.Integer(column, 1, kMaxSize); }

  bool Gated() {
    const CsvCell& cell = csv_.cell(gated_);
    if (cell.text != "True" && cell.text != "False") {
      csv_.Fail(cell, "use_gated_mlp is neither True nor False");
    }
    return cell.text == "True";
  }

  void Divides(int64_t divisor, int64_t value, size_t column,
               std::string_view name) {
    if (value % divisor == 0) return;
    csv_.Fail(csv_.cell(column),
              fmt::format("{} is no multiple of {}, which is {}", value, name,
                          divisor));
  }

  void AddSamples(std::vector<OperatorSample>* samples) {
    const Row row = ReadRow();
    if (!csv_.status().ok()) return;
    for (size_t i = 0; i < std::size(kTimed); ++i) {
      const double ms =
          csv_.Number(place_[i], kMinMilliseconds, kMaxMilliseconds);
      samples->push_back({.gpu = gpu_,
                          .name = NameOf(kTimed[i], row),
                          .shape = kTimed[i].shape(row),
                          .precision = Precision::kBf16,
                          .time = FromMicroseconds(ms * kUsPerMs),
                          .source = source_});
    }
  }

  CsvReader csv_;
  std::string gpu_;
  std::string source_;
  std::array<size_t, std::size(kTimed)> place_{};
  size_t tokens_ = 0, tp_ = 0, hidden_ = 0, heads_ = 0, kv_heads_ = 0;
  size_t expanded_ = 0, gated_ = 0;
};

}  // namespace

bool IsVidurTable(const CsvReader& csv) {
  return csv.Find("num_tensor_parallel_workers").has_value();
}

absl::StatusOr<std::vector<OperatorSample>> ParseVidurTable(
    std::string_view file, std::string_view contents, std::string_view gpu,
    Warnings* warnings) {
  return VidurParser(file, contents, gpu).Parse(warnings);
}

}  // namespace astra
