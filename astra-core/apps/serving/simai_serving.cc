// simai_serving: serves requests with replicas of a model, and tells how long
// users wait.

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/serving/capacity_run.h"
#include "astra-core/apps/serving/other_curve.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_compare.h"
#include "astra-core/apps/serving/serving_curve.h"
#include "astra-core/apps/serving/serving_files.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_page.h"
#include "astra-core/apps/serving/serving_plan_run.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/apps/serving/serving_progress.h"
#include "astra-core/apps/serving/serving_record.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Compare(const SimaiServingOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                         ReadFile(*options.compare_table));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const ServingComparison comparison,
                         CompareServing(*options.compare_table, contents));
  ASTRA_RETURN_IF_ERROR(WriteServingFiles(
      folder, options.output, {{"comparison.csv", comparison.csv}}));
  Print(
      fmt::format("results    {}: comparison.csv\nfinished   {} of {} rows "
                  "predicted\n",
                  options.output, comparison.predicted, comparison.rows));
  return FlushStdout();
}

// Writes the files, and prints where they are, and `result`.
absl::Status Finish(const SimaiServingOptions& options,
                    const OutputFolder& folder,
                    const std::vector<NamedFile>& files,
                    const std::string& result) {
  std::string names;
  for (const NamedFile& file : files) names += " " + file.name;
  ASTRA_RETURN_IF_ERROR(WriteServingFiles(folder, options.output, files));
  Print(fmt::format("results    {}:{}\nfinished   {}: {}\n", options.output,
                    names, options.name, result));
  return FlushStdout();
}

absl::Status ServeOne(const SimaiServingOptions& options, ReplicaTimes& times,
                      ServingSetup& setup, const OutputFolder& folder,
                      const Log& log) {
  const LoadPoint& point = options.points.front();
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<RequestSource> source,
                         SourceOf(options, point));
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<ServingRecord> record,
                         ServingRecord::Begin(options, folder));
  ServingProgress progress(options.num_requests());
  ServingLoad load = {.source = source.get(),
                      .in_flight = point.in_flight,
                      .seed = options.seed,
                      .limits = options.answers.limits,
                      .watchers = record->Watchers(),
                      .wants_distributions = true};
  // Into a file or a pipe a run says the same however long it takes.
  if (isatty(STDERR_FILENO) != 0) load.watchers.push_back(&progress);
  ASTRA_ASSIGN_OR_RETURN(const ServingRun run,
                         RunServing(options.job, times, load, setup.parts()));
  ASTRA_RETURN_IF_ERROR(setup.status());
  log.Report(record->LeftOut(run));
  const std::vector<NamedFile> files = record->Files(run, setup);
  Print(DescribeServing(options, run, &setup));
  return Finish(options, folder, files, ServingResult(run));
}

absl::Status ServeList(const SimaiServingOptions& options,
                       const OutputFolder& folder) {
  const int64_t gpus = options.num_gpus();
  std::vector<OtherCurve> others;
  for (const std::string& other : options.answers.curves) {
    ASTRA_ASSIGN_OR_RETURN(others.emplace_back(), ReadOtherCurve(other));
  }
  Print(DescribeDeployment(options) + "\n" + CurveHeader(options));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<ServingRun> runs,
      ServePoints(
          options.job, options.points,
          [&](const LoadPoint& point) { return SourceOf(options, point); },
          {.seed = options.seed,
           .limits = options.answers.limits,
           .threads = options.answers.threads,
           .setup_of =
               [&options] {
                 Warnings ignored;  // Of every point the same.
                 return ServingSetup::Create(options.job, options.decode,
                                             options.fabric, &ignored);
               },
           .report =
               [&](const LoadPoint& point, const ServingRun& run) {
                 Print(CurveLine({.load = point, .run = run, .gpus = gpus}));
                 FlushStdout().IgnoreError();  // Finish() sees it again.
               }}));
  std::vector<CurvePoint> points;
  for (size_t i = 0; i < runs.size(); ++i) {
    points.push_back({options.points[i], runs[i], gpus});
  }
  Print("\n");
  return Finish(options, folder,
                {{"curve.csv", CurveCsv(points)},
                 {"run.json", ServingCurveJson(options)},
                 {"serving.html", CurvePage(options, points, others)}},
                CurveResult(points));
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
  options.system = times->system_name();
  ASTRA_RETURN_IF_ERROR(ReadTrace(options));
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<ServingSetup> setup,
      ServingSetup::Create(options.job, options.decode, options.fabric,
                           &options.warnings));
  log.Report(options.warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  if (options.points.size() > 1) return ServeList(options, folder);
  return ServeOne(options, *times, *setup, folder, log);
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_serving");
  return astra::RunMain(log, [&] {
    return astra::ExitCode(astra::RunServingProgram(argc, argv, log), log);
  });
}
