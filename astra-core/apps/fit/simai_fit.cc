// simai_fit: compares times of operators with measurements, and fits models to
// them.

#include <string>
#include <utility>

#include "astra-core/apps/fit/simai_fit_compare.h"
#include "astra-core/apps/fit/simai_fit_iteration.h"
#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/apps/fit/simai_fit_regressors.h"
#include "astra-core/apps/fit/simai_fit_train.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::StatusOr<FitReport> ReportComparison(const SimaiFitOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(KernelComparison comparison,
                         CompareKernelTable(options));
  FitReport report;
  report.page = comparison.summary;
  report.result = fmt::format("{} row{}", comparison.num_rows,
                              comparison.num_rows == 1 ? "" : "s");
  report.files = {{"comparison.csv", std::move(comparison.csv)},
                  {"summary.txt", std::move(comparison.summary)}};
  return report;
}

absl::StatusOr<FitReport> RunTask(const SimaiFitOptions& options) {
  switch (options.task) {
    case FitTask::kCompare:
      return ReportComparison(options);
    case FitTask::kTarget:
      return ReportTarget(options);
    case FitTask::kFolds:
      return ReportFolds(options);
    case FitTask::kTrain:
      return ReportTraining(options);
    case FitTask::kIteration:
      break;
  }
  return ReportIterations(options);
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(SimaiFitOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_fit", SimaiFitHelp())) return FlushStdout();
  ASTRA_ASSIGN_OR_RETURN(const SimaiFitOptions options,
                         ReadSimaiFitOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const FitReport report, RunTask(options));
  log.Report(report.warnings);
  ASTRA_RETURN_IF_ERROR(folder.Write(report.files));
  Print(report.page);
  std::string names;
  for (const NamedFile& file : report.files) names += " " + file.name;
  Print(fmt::format("results    {}:{}\nfinished   {}: {}\n", options.output,
                    names, options.name, report.result));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_fit");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
