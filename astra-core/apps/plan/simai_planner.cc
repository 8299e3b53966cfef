// simai_planner: ranks the layouts with which a model can be trained on a
// cluster.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/apps/plan/plan_report.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/planner/plan_search.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

absl::StatusOr<SearchResult> SearchLayouts(SimaiPlannerOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options.run, options.job.num_gpus()));
  std::optional<SystemSpec> system = std::move(cluster.system);
  if (!system) {
    ASTRA_ASSIGN_OR_RETURN(system, DeriveSystem(cluster.topology));
  }
  Routes routes(cluster.topology);
  GroupSeconds groups(*system, options.run.nccl, routes,
                      options.job.num_gpus());
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<GpuTimes> times,
      GpuTimes::Create(options.job.gpu, {}, "", {.use = KernelUse::kTraining},
                       &options.warnings));
  // Some of the best may not fit with their workspaces.
  constexpr size_t kSpare = 5;
  return Search(options.job, options.space,
                {.most = kSpare * options.candidates,
                 .memory_bytes = UsableMemory(options.job.gpu),
                 .exhaustive = options.exhaustive},
                times->model(), groups);
}

absl::Status WriteFolders(const SimaiPlannerOptions& options,
                          const std::vector<Plan>& plans) {
  constexpr size_t kFolders = 5;
  for (size_t i = 0; i < std::min(kFolders, plans.size()); ++i) {
    ASTRA_ASSIGN_OR_RETURN(
        const OutputFolder folder,
        OutputFolder::Create(fmt::format("{}/plan-{}", options.output, i + 1)));
    ASTRA_RETURN_IF_ERROR(folder.Write(PlanFiles(options, plans[i])));
  }
  return absl::OkStatus();
}

absl::Status RunPlanner(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiPlannerOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_planner", SimaiPlannerHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(SimaiPlannerOptions options,
                         ReadSimaiPlannerOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const SearchResult search, SearchLayouts(options));
  ASTRA_ASSIGN_OR_RETURN(const PlanRuns runs, RunPlans(options, search));
  log.Report(options.warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::string page = DescribePlans(options, search, runs);
  ASTRA_RETURN_IF_ERROR(
      folder.Write({{"plans.csv", PlansCsv(options, runs.plans)},
                    {"plan.json", PlanJson(options, search, runs)},
                    {"summary.txt", page}}));
  ASTRA_RETURN_IF_ERROR(WriteFolders(options, runs.plans));
  Print(page);
  const std::string best =
      runs.plans.empty()
          ? "no layout fits"
          : fmt::format("{} in {:.4f} s",
                        DescribeLayout(runs.plans.front().estimate.layout,
                                       options.job.num_gpus()),
                        runs.plans.front().seconds);
  Print(
      fmt::format("results    {}: plans.csv plan.json summary.txt plan-1 ...\n"
                  "finished   {}: {}\n",
                  options.output, options.name, best));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_planner");
  return astra::WithinMemory(log, [&] {
    return astra::ExitCode(astra::RunPlanner(argc, argv, log), log);
  });
}
