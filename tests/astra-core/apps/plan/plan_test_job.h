// Options of simai_planner and searches with them, for tests.

#ifndef TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_
#define TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/planner/plan_search.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"
#include "topology/routes.h"

namespace astra::testing {

inline absl::StatusOr<SimaiPlannerOptions> TryReadPlanner(
    const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  std::vector<const char*> argv = {"simai_planner"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto flags = CommandLine::Parse(
      SimaiPlannerOptionSpecs(), static_cast<int>(argv.size()), argv.data());
  if (!flags.ok()) return flags.status();
  return ReadSimaiPlannerOptions(*flags);
}

inline SimaiPlannerOptions ReadPlanner(const std::string& text) {
  return ValueOrDie(TryReadPlanner(text));
}

inline SearchResult SearchAs(const SimaiPlannerOptions& options,
                             const SearchOptions& search) {
  const RunCluster cluster =
      ValueOrDie(ReadCluster(options.run, options.job.num_gpus()));
  Routes routes(cluster.topology);
  GroupSeconds groups(*cluster.system, options.run.nccl, routes,
                      options.job.num_gpus());
  Warnings warnings;
  const auto times = ValueOrDie(GpuTimes::Create(
      options.job.gpu, {}, "", {.use = KernelUse::kTraining}, &warnings));
  return ValueOrDie(
      Search(options.job, options.space, search, times->model(), groups));
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_APPS_PLAN_PLAN_TEST_JOB_H_
