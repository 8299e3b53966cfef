// gen_workload: writes what a model computes and communicates.

#include <filesystem>
#include <string>
#include <system_error>

#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/gen_workload_output.h"
#include "astra-core/apps/generated_workload.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Marks an error about an illegal layout as such.
absl::Status Marked(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return absl::InvalidArgumentError(
      fmt::format("{}{}", kIllegalLayout, std::string(status.message())));
}

// Creates the folder of the output if --result-dir is given, as AICB does.
absl::Status CreateFolderOf(const CommandLine& flags,
                            const std::string& output) {
  if (!flags.has("result-dir")) return absl::OkStatus();
  const std::filesystem::path folder =
      std::filesystem::path(output).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--result-dir {} cannot be created: {}",
                  Quoted(folder.string()), error.message()));
}

absl::Status Run(int argc, const char* const* argv, const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(GenWorkloadOptionSpecs(), argc,
                                            argv, kGenWorkloadOperands));
  if (PrintedInstead(flags, "gen_workload", GenWorkloadHelp()) ||
      PrintedList(flags)) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(GenWorkloadOptions options,
                         ReadGenWorkloadOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const GeneratedWorkload workload,
                         GenerateWorkload(options, &options.warnings));
  const Blueprint& blueprint = workload.blueprint;
  const ModuleTimes& times = workload.times;
  ASTRA_RETURN_IF_ERROR(
      AnnounceWork(BudgetOf(options, blueprint, times), options.force));
  ASTRA_ASSIGN_OR_RETURN(
      const std::string text,
      FormatWorkloadAs(options, blueprint, times, &options.warnings));
  log.Report(options.warnings);
  ASTRA_RETURN_IF_ERROR(CreateFolderOf(flags, options.output));
  ASTRA_RETURN_IF_ERROR(WriteFile(options.output, text));
  std::string names = options.output + "\n";
  if (options.chart) {
    const std::string chart_file =
        std::filesystem::path(options.output).replace_extension(".html");
    ASTRA_ASSIGN_OR_RETURN(const std::string chart,
                           ChartOf(options, blueprint, times));
    ASTRA_RETURN_IF_ERROR(WriteFile(chart_file, chart));
    names += chart_file + "\n";
  }
  if (options.explain) Print(Explanation(options, blueprint, times));
  Print(names);
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("gen_workload");
  return astra::RunMain(log, [&] {
    return astra::ExitCode(astra::Marked(astra::Run(argc, argv, log)), log);
  });
}
