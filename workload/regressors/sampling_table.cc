#include "workload/regressors/sampling_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/estimator_shapes.h"

namespace astra {
namespace {

constexpr double kMostSize = 1e12;
constexpr double kLeastUs = 1e-3;
constexpr double kMostUs = 1e12;

using Features = std::vector<std::pair<std::string, double>>;

using Sizes = EstimatorSizes;

Sizes SizesOf(const SampledSizes& sampled) {
  const auto size = [&sampled](std::string_view name) {
    const auto found = sampled.find(name);
    return found == sampled.end() ? 1 : found->second;
  };
  return {.tensor = size("mp"),
          .sequences = size("b"),
          .heads = size("h"),
          .positions = size("l"),
          .hidden = size("dim")};
}

Features ProductFeatures(const EstimatorProduct& product) {
  return {{"rows", product.rows}, {"in", product.in}, {"out", product.out}};
}
Features Embedding(const Sizes& s) {
  return ProductFeatures(
      {.rows = s.rows(), .in = s.local_vocabulary(), .out = s.hidden});
}
Features Loss(const Sizes& s) {
  return {{"sequences", s.sequences},
          {"positions", s.positions},
          {"vocabulary", s.local_vocabulary()}};
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
          {"width", s.expanded()}};
}

struct Known {
  std::string_view name;
  Features (*features)(const Sizes&);
};
constexpr Known kKnown[] = {
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

// Returns the operator that the name of a file tells, or nullopt.
std::optional<std::string> NameOf(std::string_view file) {
  constexpr std::string_view kPrecisions[] = {"fp16", "bf16", "fp32"};
  const std::optional<EstimatorFileName> name = SplitEstimatorFileName(file);
  const bool is_known =
      name && std::find(std::begin(kPrecisions), std::end(kPrecisions),
                        name->precision) != std::end(kPrecisions);
  if (!is_known) return std::nullopt;
  return std::string(name->op);
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
  const Sizes known_sizes = SizesOf(sizes);
  if (const auto product = EstimatorProductOf(name, known_sizes)) {
    return ProductFeatures(*product);
  }
  for (const Known& known : kKnown) {
    if (known.name == name) return known.features(known_sizes);
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
