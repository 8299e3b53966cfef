#include "astra-core/apps/plan/plan_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/iteration_run.h"
#include "astra-core/apps/plan/plan_preparation.h"
#include "astra-core/apps/plan/plan_pricing.h"
#include "astra-core/base/parallel.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/result.h"
#include "workload/generator/layout_rules.h"
#include "workload/generator/timed_program.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {
namespace {

std::array<double, kNumPlanTerms> TermsOf(const SimulationResult& result) {
  std::array<double, kNumPlanTerms> terms{};
  const auto add = [&terms](PlanTerm term, TimePs time) {
    terms[static_cast<size_t>(term)] += ToSeconds(time);
  };
  const auto exposed = [&](PlanTerm term, ParallelDimension dimension) {
    add(term, result.exposed[IndexOf(dimension)]);
  };
  add(PlanTerm::kCompute, result.compute);
  add(PlanTerm::kSlowed, result.slowed);
  exposed(PlanTerm::kTensor, ParallelDimension::kTensor);
  exposed(PlanTerm::kTensor, ParallelDimension::kExpertTensor);
  exposed(PlanTerm::kContext, ParallelDimension::kContext);
  exposed(PlanTerm::kExpert, ParallelDimension::kExpert);
  exposed(PlanTerm::kData, ParallelDimension::kData);
  exposed(PlanTerm::kData, ParallelDimension::kDataExpert);
  add(PlanTerm::kMessages, result.pipeline.exposed);
  add(PlanTerm::kBubble, result.pipeline.bubble);
  return terms;
}

// Runs a plan.
absl::Status Finish(const SimaiPlannerOptions& options, Program program,
                    Plan& plan) {
  const ProgramWork work = program.work();
  constexpr double kTera = 1e12;
  const double peak_flops = program.gpu().peak_tflops * kTera *
                            static_cast<double>(options.job.num_gpus());
  ASTRA_ASSIGN_OR_RETURN(const RunResult run,
                         RunGenerated(RunOf(options.run, plan.estimate.layout),
                                      std::move(program)));
  plan.seconds = ToSeconds(run.result.total());
  plan.terms = TermsOf(run.result);
  plan.tokens_per_second = static_cast<double>(work.tokens) / plan.seconds;
  plan.utilisation = work.model_flops / (plan.seconds * peak_flops);
  return absl::OkStatus();
}

// Returns the plan, or none if it does not fit into the memory.
absl::StatusOr<std::optional<Plan>> RunPlan(const SimaiPlannerOptions& options,
                                            const EstimatedLayout& estimate) {
  ASTRA_ASSIGN_OR_RETURN(PreparedPlan prepared,
                         PrepareFittingPlan(options, estimate));
  if (!prepared.plan.fits) return std::optional<Plan>();
  ASTRA_RETURN_IF_ERROR(
      Finish(options, std::move(prepared.program), prepared.plan));
  return std::optional<Plan>(std::move(prepared.plan));
}

// Estimates the plans whose layouts were changed until they fitted.
absl::Status EstimateChanged(const SimaiPlannerOptions& options,
                             std::vector<Plan>& plans) {
  std::unique_ptr<PlanPricing> pricing;
  for (Plan& plan : plans) {
    if (plan.estimate.seconds > 0) continue;
    if (pricing == nullptr) {
      ASTRA_ASSIGN_OR_RETURN(pricing, PlanPricing::Create(options));
    }
    const int64_t number = plan.estimate.number;
    ASTRA_ASSIGN_OR_RETURN(plan.estimate,
                           EstimateLayout(options.job, plan.estimate.layout,
                                          pricing->model(), pricing->groups()));
    plan.estimate.number = number;
  }
  return absl::OkStatus();
}

// Marks the plans that no other beats in both time and memory. Requires that
// the fastest come first.
void MarkEfficient(std::vector<Plan>& plans) {
  Bytes least(std::numeric_limits<int64_t>::max());
  for (Plan& plan : plans) {
    plan.is_efficient = plan.reserved < least;
    least = std::min(least, plan.reserved);
  }
}

using MaybePlan = absl::StatusOr<std::optional<Plan>>;

// Runs layouts from position `begin` on, as many as plans are missing.
std::vector<MaybePlan> RunSome(const SimaiPlannerOptions& options,
                               const SearchResult& search, size_t begin,
                               size_t missing) {
  const size_t count = std::min(missing, search.best.size() - begin);
  std::vector<MaybePlan> plans(count, std::optional<Plan>());
  ForEachOnThreads(count, options.threads, [&](size_t i) {
    plans[i] = RunPlan(options, search.best[begin + i]);
  });
  return plans;
}

}  // namespace

absl::StatusOr<SearchResult> SearchLayouts(const SimaiPlannerOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<PlanPricing> pricing,
                         PlanPricing::Create(options));
  // Some of the best may not fit with their workspaces.
  constexpr size_t kSpare = 5;
  return Search(options.job, options.space,
                {.most = kSpare * options.candidates,
                 .memory_bytes = UsableMemory(options.job.gpu),
                 .exhaustive = options.exhaustive},
                pricing->model(), pricing->groups());
}

absl::StatusOr<Plan> MemoryOfLayout(const SimaiPlannerOptions& options,
                                    const Layout& layout) {
  ASTRA_RETURN_IF_ERROR(
      CheckTraining(options.job.model, SetupOf(options.job, layout)));
  ASTRA_ASSIGN_OR_RETURN(PreparedPlan prepared,
                         PreparePlan(options, {.layout = layout}));
  return std::move(prepared.plan);
}

absl::StatusOr<Plan> RunLayout(const SimaiPlannerOptions& options,
                               const Layout& layout) {
  ASTRA_RETURN_IF_ERROR(
      CheckTraining(options.job.model, SetupOf(options.job, layout)));
  ASTRA_ASSIGN_OR_RETURN(PreparedPlan prepared,
                         PreparePlan(options, {.layout = layout}));
  ASTRA_RETURN_IF_ERROR(
      Finish(options, std::move(prepared.program), prepared.plan));
  return std::move(prepared.plan);
}

absl::StatusOr<PlanRuns> RunPlans(const SimaiPlannerOptions& options,
                                  const SearchResult& search) {
  PlanRuns runs;
  for (size_t begin = 0;
       begin < search.best.size() && runs.plans.size() < options.candidates;) {
    std::vector<MaybePlan> some =
        RunSome(options, search, begin, options.candidates - runs.plans.size());
    begin += some.size();
    for (MaybePlan& plan : some) {
      if (!plan.ok()) return plan.status();
      if (*plan) {
        runs.plans.push_back(**std::move(plan));
      } else {
        ++runs.beyond_memory;
      }
    }
  }
  ASTRA_RETURN_IF_ERROR(EstimateChanged(options, runs.plans));
  std::stable_sort(
      runs.plans.begin(), runs.plans.end(),
      [](const Plan& a, const Plan& b) { return a.seconds < b.seconds; });
  MarkEfficient(runs.plans);
  const size_t closer = std::min(options.closer_plans, runs.plans.size());
  for (size_t i = 0; i < closer; ++i) {
    Plan& plan = runs.plans[i];
    ASTRA_ASSIGN_OR_RETURN(
        Program program,
        GenerateProgram(WorkloadOf(options, plan.estimate.layout)));
    ASTRA_ASSIGN_OR_RETURN(
        const RunResult run,
        RunGenerated(RunOf(*options.closer_run, plan.estimate.layout),
                     std::move(program)));
    plan.closer_seconds = ToSeconds(run.result.total());
  }
  return runs;
}

int64_t UsableMemory(const GpuSpec& gpu) {
  constexpr double kReserved = 0.94;  // See ReservedMemory.
  const Bytes memory = ProgramGpuOf(gpu, Precision::kBf16).memory;
  return std::llround(kReserved *
                      static_cast<double>((memory - kDeviceOverhead).count()));
}

}  // namespace astra
