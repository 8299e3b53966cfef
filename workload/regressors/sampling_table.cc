#include "workload/regressors/sampling_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMostSize = 1e12;
constexpr double kLeastUs = 1e-3;
constexpr double kMostUs = 1e12;

// Returns the part of GPT-NeoX's vocabulary that a rank has, padded as Megatron
// pads it.
double LocalVocabulary(double tensor) {
  constexpr double kVocabulary = 50257, kMultiple = 128;
  return kMultiple * std::ceil(kVocabulary / (kMultiple * tensor));
}

using Features = std::vector<std::pair<std::string, double>>;

// The sizes of an operator; 1 where it does not depend on them.
struct Sizes {
  explicit Sizes(const SampledSizes& sizes) {
    const auto read = [&](std::string_view name, double& value) {
      const auto found = sizes.find(name);
      if (found != sizes.end()) value = found->second;
    };
    read("mp", tensor);
    read("b", sequences);
    read("h", heads);
    read("l", positions);
    read("dim", hidden);
  }

  double rows() const { return sequences * positions; }
  double local_heads() const { return heads / tensor; }

  double tensor = 1;
  double sequences = 1;
  double heads = 1;
  double positions = 1;
  double hidden = 1;
};

Features Product(double rows, double in, double out) {
  return {{"rows", rows}, {"in", in}, {"out", out}};
}
Features Qkv(const Sizes& s) {
  return Product(s.rows(), s.hidden, 3 * s.hidden / s.tensor);
}
Features Output(const Sizes& s) {
  return Product(s.rows(), s.hidden / s.tensor, s.hidden);
}
Features Up(const Sizes& s) {
  return Product(s.rows(), s.hidden, 4 * s.hidden / s.tensor);
}
Features Down(const Sizes& s) {
  return Product(s.rows(), 4 * s.hidden / s.tensor, s.hidden);
}
Features Head(const Sizes& s) {
  return Product(s.rows(), s.hidden, LocalVocabulary(s.tensor));
}
Features Embedding(const Sizes& s) {
  return Product(s.rows(), LocalVocabulary(s.tensor), s.hidden);
}
Features Loss(const Sizes& s) {
  return {{"sequences", s.sequences},
          {"positions", s.positions},
          {"vocabulary", LocalVocabulary(s.tensor)}};
}
Features OfHeads(const Sizes& s) {
  return {{"sequences", s.sequences},
          {"positions", s.positions},
          {"heads", s.local_heads()},
          {"head_dim", s.hidden / s.heads}};
}
Features Scores(const Sizes& s) {
  return {{"products", s.sequences * s.local_heads()},
          {"positions", s.positions},
          {"head_dim", s.hidden / s.heads}};
}
Features Softmax(const Sizes& s) {
  return {{"products", s.sequences * s.local_heads()},
          {"positions", s.positions}};
}
Features Mask(const Sizes& s) {
  return {{"sequences", s.sequences},
          {"heads", s.local_heads()},
          {"positions", s.positions},
          {"hidden", s.hidden}};
}
Features Expanded(const Sizes& s) {
  return {{"positions", s.positions},
          {"sequences", s.sequences},
          {"width", 4 * s.hidden / s.tensor}};
}

struct Known {
  std::string_view name;
  Features (*features)(const Sizes&);
};
constexpr Known kKnown[] = {
    {"linear1", Qkv},
    {"linear2", Output},
    {"linear3", Up},
    {"linear4", Down},
    {"linear_final", Head},
    {"embedding", Embedding},
    {"flash_atten", OfHeads},
    {"RoPE", OfHeads},
    {"baddbmm", Scores},
    {"bmm", Scores},
    {"softmax", Softmax},
    {"ScaledUpperTriangMaskedSoftmax", Softmax},
    {"fillmask", Mask},
    {"gelu", Expanded},
    {"parallel_cross_entropy_128", Loss},
};

// Returns OPERATOR of GPU_OPERATOR_PRECISION.csv, also with _NODES_GPUS behind
// the precision; none for another name.
std::optional<std::string> NameOf(std::string_view file) {
  constexpr std::string_view kPrecisions[] = {"_fp16", "_bf16", "_fp32"};
  const std::string stem = std::filesystem::path(file).stem().string();
  const size_t first = stem.find('_');
  if (first == std::string::npos) return std::nullopt;
  for (const std::string_view precision : kPrecisions) {
    const size_t end = stem.rfind(precision);
    if (end == std::string::npos || end <= first) continue;
    return stem.substr(first + 1, end - first - 1);
  }
  return std::nullopt;
}

struct TimeColumn {
  std::string_view name;
  SampledPass pass;
};
constexpr TimeColumn kTimes[] = {{"F_dur(us)", SampledPass::kForward},
                                 {"B_dur(us)", SampledPass::kBackward},
                                 {"dur(us)", SampledPass::kWhole},
                                 {"dur", SampledPass::kWhole}};

bool IsTime(std::string_view column) {
  return std::any_of(
      std::begin(kTimes), std::end(kTimes),
      [&](const TimeColumn& time) { return time.name == column; });
}

// Appends a sample to the pass of `table`.
void Append(const Features& features, double time_us, TrainingSet& set) {
  if (set.features.empty()) {
    for (const auto& [name, _] : features) set.features.push_back(name);
  }
  for (const auto& [_, value] : features) set.values.push_back(value);
  set.times_us.push_back(time_us);
}

}  // namespace

std::vector<std::pair<std::string, double>> FeaturesOf(
    std::string_view name, const SampledSizes& sizes) {
  for (const Known& known : kKnown) {
    if (known.name == name) return known.features(Sizes(sizes));
  }
  return {sizes.begin(), sizes.end()};
}

absl::StatusOr<SamplingTable> ParseSamplingTable(std::string_view file,
                                                 std::string_view contents) {
  const std::optional<std::string> name = NameOf(file);
  if (!name) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected a file named GPU_OPERATOR_PRECISION.csv", file));
  }
  CsvReader csv(file, contents);
  SamplingTable table = {*name, {}};
  std::vector<std::pair<size_t, SampledPass>> times;
  for (const TimeColumn& time : kTimes) {
    if (csv.Find(time.name))
      times.emplace_back(*csv.Find(time.name), time.pass);
  }
  if (times.empty()) csv.Column("dur(us)");  // Records the error.
  while (csv.NextRow()) {
    SampledSizes sizes;
    for (size_t i = 0; i < csv.header().size(); ++i) {
      const std::string& column = csv.header()[i].text;
      if (!IsTime(column)) sizes[column] = csv.Number(i, 1, kMostSize);
    }
    const Features features = FeaturesOf(*name, sizes);
    for (const auto& [column, pass] : times) {
      const double time_us = csv.Number(column, kLeastUs, kMostUs);
      Append(features, time_us, table.passes[pass]);
    }
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  if (table.passes.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: no samples", file));
  }
  return table;
}

}  // namespace astra
