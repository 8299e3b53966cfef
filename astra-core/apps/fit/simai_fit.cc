// simai_fit: fits models of operators to measurements.

#include <string>

#include "astra-core/apps/fit/simai_fit_options.h"
#include "astra-core/apps/fit/simai_fit_regressors.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(SimaiFitOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_fit", SimaiFitHelp())) return FlushStdout();
  ASTRA_ASSIGN_OR_RETURN(const SimaiFitOptions options,
                         ReadSimaiFitOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const FitReport report,
                         options.task == FitTask::kTarget
                             ? ReportTarget(options)
                             : ReportFolds(options));
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
  return astra::WithinMemory(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
