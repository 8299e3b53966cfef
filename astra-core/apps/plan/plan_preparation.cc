#include "astra-core/apps/plan/plan_preparation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/apps/iteration_run.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/generator/model_parts.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

std::string PeakOf(const Program& program, const StageMemory& memory) {
  const std::string& module = program.modules()[memory.module.index()].name;
  if (!memory.slot) return fmt::format("{} after the last micro-batch", module);
  return fmt::format("{}, {} in flight", module, memory.in_flight);
}

bool Searches(const SimaiPlannerOptions& options,
              const RecomputeChoice& choice) {
  const std::vector<RecomputeChoice>& choices = options.space.recompute;
  return std::find(choices.begin(), choices.end(), choice) != choices.end();
}

// Returns the most layers that run again in a chunk of `layout` before that is
// another choice of the space.
absl::StatusOr<int64_t> MostLayers(const SimaiPlannerOptions& options,
                                   const Layout& layout) {
  const PlanJob& job = options.job;
  ASTRA_ASSIGN_OR_RETURN(const std::vector<int64_t> layers,
                         PartLayers(job.model, SetupOf(job, layout)));
  const int64_t most = *std::max_element(layers.begin(), layers.end());
  return Searches(options, {.kind = Recompute::kFull}) ? most - 1 : most;
}

absl::StatusOr<PreparedPlan> PrepareWith(const SimaiPlannerOptions& options,
                                         const EstimatedLayout& estimate,
                                         int64_t layers) {
  EstimatedLayout changed = estimate;
  changed.layout.recompute = JustFits();
  changed.layout.recompute.layers = layers;
  changed.seconds = 0;
  return PreparePlan(options, changed);
}

}  // namespace

absl::StatusOr<PreparedPlan> PreparePlan(const SimaiPlannerOptions& options,
                                         const EstimatedLayout& estimate) {
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         GenerateProgram(WorkloadOf(options, estimate.layout)));
  const std::vector<StageMemory> memories = MemoryOf(program);
  const StageMemory& largest = LargestOf(memories);
  Plan plan;
  plan.estimate = estimate;
  plan.allocated = largest.peak();
  plan.reserved = ReservedMemory(largest);
  plan.fits = plan.reserved + kDeviceOverhead <= program.gpu().memory;
  plan.fullest_stage = largest.stage;
  plan.peak = PeakOf(program, largest);
  return PreparedPlan{std::move(plan), std::move(program)};
}

absl::StatusOr<PreparedPlan> PrepareFittingPlan(
    const SimaiPlannerOptions& options, const EstimatedLayout& estimate) {
  ASTRA_ASSIGN_OR_RETURN(PreparedPlan first, PreparePlan(options, estimate));
  const RecomputeChoice& recompute = estimate.layout.recompute;
  const bool may_change =
      recompute.just_fits || recompute.kind == Recompute::kNone;
  if (first.plan.fits || !may_change || !Searches(options, JustFits())) {
    return first;
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t most,
                         MostLayers(options, estimate.layout));
  // Workspaces take little, so the number is most likely close.
  int64_t too_few = recompute.layers;
  int64_t step = 1;
  std::optional<PreparedPlan> fitting;
  while (!fitting && too_few < most) {
    const int64_t layers = std::min(most, too_few + step);
    ASTRA_ASSIGN_OR_RETURN(PreparedPlan plan,
                           PrepareWith(options, estimate, layers));
    if (plan.plan.fits) {
      fitting = std::move(plan);
    } else {
      too_few = layers;
      step *= 2;
    }
  }
  if (!fitting) return first;
  while (fitting->plan.estimate.layout.recompute.layers - too_few > 1) {
    const int64_t layers =
        (fitting->plan.estimate.layout.recompute.layers + too_few) / 2;
    ASTRA_ASSIGN_OR_RETURN(PreparedPlan plan,
                           PrepareWith(options, estimate, layers));
    if (plan.plan.fits) {
      fitting = std::move(plan);
    } else {
      too_few = layers;
    }
  }
  return *std::move(fitting);
}

}  // namespace astra
