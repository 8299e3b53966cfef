// simai_planner: ranks the layouts with which a model can be trained on a
// cluster.

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/plan/internevo_options.h"
#include "astra-core/apps/plan/launch_files.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_objective.h"
#include "astra-core/apps/plan/plan_page.h"
#include "astra-core/apps/plan/plan_plot.h"
#include "astra-core/apps/plan/plan_report.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/plan_stages.h"
#include "astra-core/apps/plan/plan_what_if.h"
#include "astra-core/apps/plan/simai_planner_calculon.h"
#include "astra-core/apps/plan/simai_planner_internevo.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/plan/simumax_plan.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/planner/plan_search.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the best plan in words, or how much memory the least layout needs.
std::string Conclusion(const SimaiPlannerOptions& options,
                       const SearchResult& search,
                       const std::vector<Plan>& plans) {
  if (!plans.empty()) {
    return fmt::format(
        "{} in {:.4f} s",
        DescribeLayout(options.job, plans.front().estimate.layout),
        plans.front().seconds);
  }
  Layout least = search.least.layout;
  least.recompute.just_fits = false;
  return fmt::format(
      "no layout fits into {:.1f} GiB: the least one, {}, allocates {:.1f} GiB",
      options.job.gpu.memory_gb, DescribeLayout(options.job, least),
      static_cast<double>(search.least.bytes) / kBytesPerGib);
}

// Writes a folder for each of the best plans, and empties those that an earlier
// run left behind.
absl::Status WriteFolders(const SimaiPlannerOptions& options,
                          const std::vector<Plan>& plans) {
  std::vector<std::string_view> stale = {"commands.sh", "stages.csv"};
  stale.insert(stale.end(), std::begin(kLaunchFileNames),
               std::end(kLaunchFileNames));
  for (size_t i = 0; i < kPlanFolders; ++i) {
    const std::string path = fmt::format("{}/plan-{}", options.output, i + 1);
    const bool has_plan = i < plans.size();
    if (!has_plan && !IsFolder(path)) continue;
    ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                           OutputFolder::Create(path));
    std::vector<NamedFile> files;
    if (has_plan) {
      files = PlanFiles(options, plans[i]);
      ASTRA_ASSIGN_OR_RETURN(NamedFile stages,
                             StagesFile(options, plans[i].estimate.layout));
      files.push_back(std::move(stages));
    }
    ASTRA_RETURN_IF_ERROR(folder.Write(files, stale));
  }
  return absl::OkStatus();
}

std::optional<Plan> BestOf(const std::vector<Plan>& plans) {
  if (plans.empty()) return std::nullopt;
  return plans.front();
}

absl::Status RunPlanner(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiPlannerOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_planner", SimaiPlannerHelp())) {
    return FlushStdout();
  }
  if (flags.has("calculon")) return RunCalculon(flags, log);
  if (AsksForInternEvo(flags)) return RunInternEvo(flags, log);
  if (flags.has("simumax")) return RunSimumax(flags, log);
  ASTRA_ASSIGN_OR_RETURN(const SimaiPlannerOptions options,
                         ReadSimaiPlannerOptions(flags));
  log.Report(options.warnings);
  if (options.objective) return AnswerStdin(options);
  ASTRA_ASSIGN_OR_RETURN(const SearchResult search, SearchLayouts(options));
  if (search.estimated + search.beyond_memory == 0) {
    return NothingIsLegal(options, search);
  }
  ASTRA_ASSIGN_OR_RETURN(const PlanRuns runs, RunPlans(options, search));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::string conclusion = Conclusion(options, search, runs.plans);
  std::string page = DescribePlans(options, search, runs);
  if (options.plot && !runs.plans.empty()) {
    page += DescribePlot(options, runs.plans);
  }
  std::vector<NamedFile> files = {
      {"plans.csv", PlansCsv(options, runs.plans)},
      {"plan.json", PlanJson(options, search, runs)},
      {"run.json", PlannerRunJson(options, runs.plans)}};
  std::vector<WhatIf> changes;
  if (options.what_if) {
    ASTRA_ASSIGN_OR_RETURN(changes, PlanWhatIf(options, BestOf(runs.plans)));
    page += DescribeWhatIf(changes);
    files.push_back({"what_if.csv", WhatIfCsv(changes)});
  }
  files.push_back(
      {"plan.html", PlanPage(options, search, runs, changes, conclusion)});
  files.push_back({"summary.txt", page});
  constexpr std::string_view kStale[] = {"what_if.csv"};
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kStale));
  ASTRA_RETURN_IF_ERROR(WriteFolders(options, runs.plans));
  Print(page);
  std::string names;
  for (const NamedFile& file : files) names += " " + file.name;
  if (!runs.plans.empty()) names += " plan-1 ...";
  Print(fmt::format("results    {}:{}\nfinished   {}: {}\n", options.output,
                    names, options.name, conclusion));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_planner");
  return astra::RunMain(log, [&] {
    return astra::ExitCode(astra::RunPlanner(argc, argv, log), log);
  });
}
