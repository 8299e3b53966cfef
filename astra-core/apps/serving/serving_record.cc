#include "astra-core/apps/serving/serving_record.h"

#include <filesystem>
#include <string>

#include "astra-core/apps/serving/serving_page.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/temporary_file.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<std::unique_ptr<ServingRecord>> ServingRecord::Begin(
    const SimaiServingOptions& options, const OutputFolder& folder) {
  ASTRA_ASSIGN_OR_RETURN(
      ServingRows rows,
      ServingRows::Begin(folder, options.answers.limits, options.writes_steps));
  return std::unique_ptr<ServingRecord>(
      new ServingRecord(options, std::move(rows)));
}

std::vector<ServingObserver*> ServingRecord::Watchers() {
  std::vector<ServingObserver*> watchers = {&rows_, &series_};
  if (options_.answers.writes_timeline) watchers.push_back(&timeline_);
  return watchers;
}

std::vector<NamedFile> ServingRecord::Files(const ServingRun& run,
                                            const ServingSetup& setup) {
  std::vector<NamedFile> files;
  for (TemporaryFile& file : std::move(rows_).Files()) {
    const std::filesystem::path path(file.path());
    files.push_back(
        {.name = path.filename().string(),
         .contents = "",
         .written = std::make_shared<TemporaryFile>(std::move(file))});
  }
  files.push_back({"metrics.csv", ServingMetricsCsv(options_, run)});
  files.push_back({"run.json", ServingRunJson(options_, run, &setup)});
  files.push_back({"serving.html", ServingPage(options_, run, series_.Bins())});
  if (options_.answers.writes_timeline) {
    files.push_back({"trace.json", std::move(timeline_).Text()});
  }
  return files;
}

Warnings ServingRecord::LeftOut(const ServingRun& run) const {
  Warnings warnings;
  const int64_t steps = run.summary.steps;
  if (options_.writes_steps && steps > kMostStepRows) {
    warnings.push_back(fmt::format("steps.csv has the first {} of {} steps",
                                   kMostStepRows, steps));
  }
  if (options_.answers.writes_timeline && steps > kMostTimelineSteps) {
    warnings.push_back(fmt::format("trace.json has the first {} of {} steps",
                                   kMostTimelineSteps, steps));
  }
  return warnings;
}

}  // namespace astra
