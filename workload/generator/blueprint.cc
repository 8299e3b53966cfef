#include "workload/generator/blueprint.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fmt/core.h"

namespace astra {

std::string_view PlainName(std::string_view module) {
  const size_t end = module.find_last_not_of("0123456789");
  const bool has_number = end + 1 < module.size() && module[end] == '_';
  return has_number ? module.substr(0, end) : module;
}

StageTotals Sum(const Blueprint& blueprint, const ProgramStage& stage) {
  StageTotals totals;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      const MockModule& module = blueprint.modules[id.index()];
      const auto times = static_cast<double>(run.times);
      totals.parameters += run.times * module.parameters;
      totals.expert_parameters += run.times * module.expert_parameters;
      totals.replicated_parameters += run.times * module.replicated_parameters;
      totals.summed_parameters += run.times * module.summed_parameters;
      totals.saved_bytes += run.times * module.saved_bytes;
      totals.kv_cache_bytes += run.times * module.kv_cache_bytes;
      totals.forward_flops += times * Flops(module, ModulePass::kForward);
      totals.recompute_flops += times * Flops(module, ModulePass::kRecompute);
      totals.backward_flops +=
          times * (Flops(module, ModulePass::kInputGradient) +
                   Flops(module, ModulePass::kWeightGradient));
    }
  }
  return totals;
}

std::optional<size_t> StageOf(const Blueprint& blueprint, int64_t rank) {
  int64_t end = 0;
  for (size_t i = 0; i < blueprint.stages.size(); ++i) {
    end += blueprint.stages[i].count;
    if (rank < end) return i;
  }
  return std::nullopt;
}

ModuleId BlueprintBuilder::Add(MockModule module) {
  const std::string name = module.name;
  for (int suffix = 2;; ++suffix) {
    const auto same_name = std::find_if(
        blueprint_.modules.begin(), blueprint_.modules.end(),
        [&](const MockModule& other) { return other.name == module.name; });
    if (same_name == blueprint_.modules.end()) break;
    if (*same_name == module) {
      return ModuleId(
          static_cast<uint32_t>(same_name - blueprint_.modules.begin()));
    }
    module.name = fmt::format("{}_{}", name, suffix);
  }
  blueprint_.modules.push_back(std::move(module));
  return ModuleId(static_cast<uint32_t>(blueprint_.modules.size() - 1));
}

std::vector<ModuleId> BlueprintBuilder::AddAll(
    std::vector<MockModule> modules) {
  std::vector<ModuleId> ids;
  ids.reserve(modules.size());
  for (MockModule& module : modules) ids.push_back(Add(std::move(module)));
  return ids;
}

void BlueprintBuilder::AddStage(ProgramStage stage) {
  if (!blueprint_.stages.empty()) {
    ProgramStage& last = blueprint_.stages.back();
    if (last.runs == stage.runs && last.after == stage.after) {
      last.count += stage.count;
      return;
    }
  }
  blueprint_.stages.push_back(std::move(stage));
}

void AppendRun(std::vector<ModuleId> modules, std::vector<ModuleRun>& runs,
               int64_t chunk) {
  if (modules.empty()) return;
  if (!runs.empty() && runs.back().modules == modules &&
      runs.back().chunk == chunk) {
    ++runs.back().times;
    return;
  }
  runs.push_back({.times = 1, .modules = std::move(modules), .chunk = chunk});
}

}  // namespace astra
