// simai_compare: finished runs side by side.

#include <string>
#include <vector>

#include "astra-core/apps/compare/comparison_page.h"
#include "astra-core/apps/compare/finished_run.h"
#include "astra-core/apps/compare/run_comparison.h"
#include "astra-core/apps/compare/simai_compare_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Run(int argc, const char* const* argv) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(SimaiCompareOptionSpecs(), argc,
                                            argv, kMostComparedRuns));
  if (PrintedInstead(flags, "simai_compare", SimaiCompareHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiCompareOptions options,
                         ReadSimaiCompareOptions(flags));
  std::vector<FinishedRun> runs;
  for (const std::string& folder : options.folders) {
    ASTRA_ASSIGN_OR_RETURN(FinishedRun run, ReadFinishedRun(folder));
    runs.push_back(std::move(run));
  }
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_RETURN_IF_ERROR(
      folder.Write({{"comparison.html", ComparisonPage(options.name, runs)}}));
  Print(DescribeComparison(runs));
  Print(fmt::format("results    {}: comparison.html\nfinished   {}: {} runs\n",
                    options.output, options.name, runs.size()));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_compare");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv), log); });
}
