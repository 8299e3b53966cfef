// simai_serving: serves requests with replicas of a model, and tells how long
// users wait.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/serving/capacity_run.h"
#include "astra-core/apps/serving/serving_compare.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_plan_run.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"
#include "workload/serving/serving_tables.h"

namespace astra {
namespace {

absl::Status Compare(const SimaiServingOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                         ReadFile(*options.compare_table));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const ServingComparison comparison,
                         CompareServing(*options.compare_table, contents));
  ASTRA_RETURN_IF_ERROR(folder.Write({{"comparison.csv", comparison.csv}}));
  Print(
      fmt::format("results    {}: comparison.csv\nfinished   {} of {} rows "
                  "predicted\n",
                  options.output, comparison.predicted, comparison.rows));
  return FlushStdout();
}

absl::Status RunServingProgram(int argc, const char* const* argv,
                               const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiServingOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_serving", SimaiServingHelp())) {
    return FlushStdout();
  }
  if (flags.has("plan")) return RunServingPlan(flags, log);
  ASTRA_ASSIGN_OR_RETURN(SimaiServingOptions options,
                         ReadSimaiServingOptions(flags));
  if (options.compare_table) return Compare(options);
  if (flags.has("capacity")) {
    return RunCapacity(flags, std::move(options), log);
  }
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<ReplicaTimes> times,
                         ReplicaTimes::Create(options.job, &options.warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<RequestSource> source,
                         SourceOf(options));
  log.Report(options.warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ServingTexts texts = {.requests = RequestsHeader(), .steps = ""};
  if (options.writes_steps) texts.steps = StepsHeader();
  ASTRA_ASSIGN_OR_RETURN(const ServingRun run,
                         RunServing(options.job, *times,
                                    {.source = source.get(),
                                     .in_flight = options.in_flight,
                                     .seed = options.seed},
                                    &texts));
  if (options.writes_steps && run.summary.steps > kMostStepRows) {
    log.Report({fmt::format("steps.csv has the first {} of {} steps",
                            kMostStepRows, run.summary.steps)});
  }
  std::vector<NamedFile> files = {{"requests.csv", std::move(texts.requests)},
                                  {"metrics.csv", MetricsCsv(run.summary)},
                                  {"run.json", ServingRunJson(options, run)}};
  if (options.writes_steps) {
    files.push_back({"steps.csv", std::move(texts.steps)});
  }
  constexpr std::string_view kStale[] = {"steps.csv"};
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kStale));
  Print(DescribeServing(options, run));
  std::string names;
  for (const NamedFile& file : files) names += " " + file.name;
  Print(fmt::format("results    {}:{}\nfinished   {}: {}\n", options.output,
                    names, options.name, ServingResult(run)));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_serving");
  return astra::WithinMemory(log, [&] {
    return astra::ExitCode(astra::RunServingProgram(argc, argv, log), log);
  });
}
