#include "astra-core/apps/serving/serving_files.h"

#include <iterator>
#include <string_view>

#include "astra-core/apps/run_output.h"
#include "astra-core/apps/serving/serving_plan_report.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Files of --capacity, --compare-table and --plan; kServingFiles has the
// others.
constexpr std::string_view kAnswerFiles[] = {"capacity.csv",   "capacity.json",
                                             "comparison.csv", "plans.csv",
                                             "front.csv",      "plan.json"};

}  // namespace

absl::Status WriteServingFiles(const OutputFolder& folder,
                               const std::string& path,
                               const std::vector<NamedFile>& files,
                               size_t num_plans) {
  std::vector<std::string_view> stale(std::begin(kServingFiles),
                                      std::end(kServingFiles));
  stale.insert(stale.end(), std::begin(kAnswerFiles), std::end(kAnswerFiles));
  ASTRA_RETURN_IF_ERROR(folder.Write(files, stale));
  for (size_t i = num_plans; IsFolder(PlanFolder(path, i)); ++i) {
    ASTRA_ASSIGN_OR_RETURN(const OutputFolder left,
                           OutputFolder::Create(PlanFolder(path, i)));
    ASTRA_RETURN_IF_ERROR(left.Write({}, kServingPlanFiles));
  }
  return absl::OkStatus();
}

std::string PlanFolder(const std::string& path, size_t plan) {
  return fmt::format("{}/plan-{}", path, plan + 1);
}

}  // namespace astra
