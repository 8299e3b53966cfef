#include "astra-core/planner/simumax/result_parts.h"

#include <string_view>

#include "absl/types/span.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string Scaled(double value, double base,
                   absl::Span<const std::string_view> units) {
  size_t unit = 0;
  while (value >= base && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  return fmt::format("{:.4f} {}", value, units[unit]);
}

}  // namespace

std::string SimumaxTimeText(double ms) {
  constexpr std::string_view kUnits[] = {"ms", "s"};
  constexpr double kBase = 1000;
  return Scaled(ms, kBase, kUnits);
}

std::string SimumaxBytesText(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  constexpr double kBase = 1024;
  return Scaled(bytes, kBase, kUnits);
}

std::string SimumaxCountText(double count) {
  constexpr std::string_view kUnits[] = {"", "K", "M", "B", "T"};
  constexpr double kBase = 1000;
  return Scaled(count, kBase, kUnits);
}

std::vector<NamedStage> SimumaxShownStages(const SimumaxResult& result) {
  const std::vector<SimumaxStage>& stages = result.stages;
  std::vector<NamedStage> shown = {{"first_stage", &stages.front()}};
  const size_t last = stages.size() - 1;
  if (result.files.strategy.chunks > 1) {
    for (size_t i = 1; i < last; ++i) {
      shown.push_back({fmt::format("pp_stage_{}", i), &stages[i]});
    }
  } else if (last > 1) {
    shown.push_back({"middle_stage", &stages[1]});
  }
  if (last > 0) shown.push_back({"last_stage", &stages[last]});
  return shown;
}

std::string SimumaxParallelism(const SimumaxStrategy& strategy) {
  const std::string split =
      strategy.sequence_parallel ? fmt::format("sp{}.", strategy.tensor) : "";
  return fmt::format(
      "seq{}.mbs{}.mbc{}.gbs{} tp{}.{}cp{}.ep{}.pp{}.dp{}.etp{}.edp{}, "
      "world_size:{}",
      strategy.sequence, strategy.micro_batch, strategy.micro_batches,
      strategy.global_batch(), strategy.tensor, split, strategy.context,
      strategy.expert, strategy.pipeline, strategy.data(),
      strategy.expert_tensor, strategy.expert_data(), strategy.gpus);
}

}  // namespace astra
