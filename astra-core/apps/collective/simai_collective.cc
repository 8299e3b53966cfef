// simai_collective: predicts the times of collectives as nccl-tests measures
// them.

#include <string>

#include "astra-core/apps/collective/simai_collective_calibrate.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/apps/collective/simai_collective_compare.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_output.h"
#include "astra-core/apps/collective/simai_collective_sweep.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::StatusOr<CollectiveReport> RunTask(
    const SimaiCollectiveOptions& options) {
  if (options.task == CollectiveTask::kSweep) {
    ASTRA_ASSIGN_OR_RETURN(const CollectiveSweep sweep,
                           RunCollectiveSweep(options));
    return ReportSweep(options, sweep);
  }
  return options.task == CollectiveTask::kCalibrate ? ReportCalibration(options)
                                                    : ReportComparison(options);
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiCollectiveOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_collective", SimaiCollectiveHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiCollectiveOptions options,
                         ReadSimaiCollectiveOptions(flags));
  if (options.task == CollectiveTask::kListSystems) {
    Print(ListSystems());
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const CollectiveReport report, RunTask(options));
  log.Report(report.warnings);
  ASTRA_RETURN_IF_ERROR(folder.Write(report.files));
  Print(report.page);
  std::string names;
  for (const NamedFile& file : report.files) names += " " + file.name;
  Print(fmt::format("results    {}:{}\nfinished   {}: {} row{}\n",
                    options.output, names, options.name, report.num_rows,
                    report.num_rows == 1 ? "" : "s"));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_collective");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
