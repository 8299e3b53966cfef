// simai_trace: execution traces for other simulators, and from them.

#include <string>

#include "astra-core/apps/trace/simai_trace_options.h"
#include "astra-core/apps/trace/trace_files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"

namespace astra {
namespace {

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiTraceOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_trace", SimaiTraceHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiTraceOptions options,
                         ReadSimaiTraceOptions(flags));
  if (options.kineto) {
    ASTRA_ASSIGN_OR_RETURN(const std::string tables,
                           WriteKinetoTables(options));
    Print(tables);
    return FlushStdout();
  }
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(const ExecutionTrace trace,
                         ReadTrace(options, &warnings));
  log.Report(warnings);
  ASTRA_ASSIGN_OR_RETURN(const std::string text, WriteTrace(options, trace));
  Print(text);
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_trace");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
