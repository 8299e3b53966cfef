// simai_vidur: serves requests in the way of Vidur, with its flags and tables.

#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/vidur/simai_vidur_options.h"
#include "astra-core/apps/vidur/vidur_option_table.h"
#include "astra-core/apps/vidur/vidur_run.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiVidurOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_vidur", SimaiVidurHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(SimaiVidurOptions options,
                         ReadSimaiVidurOptions(flags));
  Warnings warnings = std::move(options.warnings);
  ASTRA_ASSIGN_OR_RETURN(VidurRun run, RunVidur(options, &warnings));
  log.Report(warnings);
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_RETURN_IF_ERROR(
      folder.Write({{"request_metrics.csv", std::move(run.request_metrics)},
                    {"metrics.csv", std::move(run.metrics)}}));
  Print(run.page);
  Print(
      fmt::format("results    {}: request_metrics.csv metrics.csv\n"
                  "finished   {}: {}\n",
                  options.output, options.replica.model.name, run.result));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_vidur");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv, log), log); });
}
