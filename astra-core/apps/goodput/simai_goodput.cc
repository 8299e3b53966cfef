// simai_goodput: how much of its time a job works, when parts of the cluster
// fail.

#include <string>
#include <vector>

#include "astra-core/apps/goodput/goodput_report.h"
#include "astra-core/apps/goodput/simai_goodput_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Run(int argc, const char* const* argv) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiGoodputOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_goodput", SimaiGoodputHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiGoodputOptions options,
                         ReadSimaiGoodputOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  const std::vector<GoodputPoint> points = GoodputPoints(options);
  ASTRA_RETURN_IF_ERROR(
      folder.Write({{"goodput.csv", GoodputCsv(points)},
                    {"run.json", GoodputRunJson(points.front())}}));
  Print(DescribeGoodput(options, points.front()));
  Print(fmt::format(
      "results    {}: goodput.csv run.json\nfinished   {}: {:.2f} %\n",
      options.output, options.name, 100 * points.front().expected.goodput));
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_goodput");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv), log); });
}
