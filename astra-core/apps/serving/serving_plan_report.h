// Writes what a plan of serving found: the page for the screen, the tables, and
// for the best plans a folder each.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PLAN_REPORT_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PLAN_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_plan_job.h"
#include "astra-core/apps/serving/serving_replay.h"
#include "astra-core/base/files.h"
#include "astra-core/serving/serving_plan.h"

namespace astra {

// A deployment, by the closed form and, for the best, by replays.
struct RankedPlan {
  ServingPlan plan;
  std::optional<ReplayedLoad> same;          // At the rate of the closed form.
  std::optional<ReplayedCapacity> capacity;  // Around it.
};

struct PlanResults {
  const ServingPlanJob& job;
  const PlanShapes& shapes;
  const ServingPlans& plans;
  absl::Span<const RankedPlan>
      ranked;  // The replayed first, by their capacity.
  size_t replayed = 0;
  size_t shown = 0;  // The best, with a row on the page and a folder.
};

// Returns a deployment in words: "8 x TP 1", "2 x TP 4 for prompts, 1 x TP 8".
std::string DescribeDeployment(const PlanShapes& shapes,
                               const ServingPlan& plan);

std::string DescribeServingPlans(const PlanResults& results);

// Returns the last words of the page.
std::string ServingPlanResult(const PlanResults& results);

// Return plans.csv with a row for each deployment that was ranked, front.csv
// with those loads that none beats, and plan.json.
std::string ServingPlansCsv(const PlanResults& results);
std::string ServingFrontCsv(const PlanResults& results);
std::string ServingPlanJson(const PlanResults& results);

// The names of all files that PlanFolderFiles may return.
inline constexpr std::string_view kServingPlanFiles[] = {
    "commands.sh", "launch.sh", "launch-prefill.sh", "launch-decode.sh",
    "launch-notes.txt"};

// Returns the files of the folder of a plan that is shown.
std::vector<NamedFile> PlanFolderFiles(const PlanResults& results,
                                       const RankedPlan& plan);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PLAN_REPORT_H_
