#include "astra-core/apps/run_program.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/chakra_program.h"
#include "astra-core/apps/jobs_program.h"
#include "astra-core/apps/pattern_program.h"
#include "astra-core/apps/prepared_run.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/results/columns.h"
#include "astra-core/run/run.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status RunCommand(const RunDefaults& defaults, int argc,
                        const char* const* argv, ReadServedJob read_served,
                        const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse(RunOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, defaults.program, HelpOf(defaults))) {
    return FlushStdout();
  }
  if (flags.has("columns")) {
    Print(DescribeColumns());
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(
      const RunOptions options,
      ReadRunOptions(defaults, flags, SimaiVariablesOfProcess()));
  // It is no warning of the run, whose files are the same for any number.
  if (options.num_threads > 1) {
    log.Report(
        {fmt::format("--threads {} has no effect: an iteration uses one "
                     "core, and simai_sweep runs several at once",
                     options.num_threads)});
  }
  Warnings warnings = options.warnings;
  warnings.insert(warnings.end(), options.environment.warnings.begin(),
                  options.environment.warnings.end());
  if (options.jobs_file) {
    return RunJobsProgram(defaults, options, read_served, std::move(warnings),
                          log);
  }
  if (options.chakra) {
    return RunChakraProgram(defaults, options, std::move(warnings), log);
  }
  if (options.pattern) {
    return RunPatternProgram(defaults, options, std::move(warnings), log);
  }
  ASTRA_ASSIGN_OR_RETURN(RunRequest request, ReadRequest(options, &warnings));
  return CarryOut(defaults, options, warnings, log,
                  {.subject = SubjectOf(request),
                   .simulation = request.simulation,
                   .layers = LayerNames(request.program),
                   .estimate = [&] { return EstimateRun(request); },
                   .run = [&] { return Run(request); }});
}

}  // namespace

int RunProgram(const RunDefaults& defaults, int argc, const char* const* argv,
               ReadServedJob read_served) {
  const Log log(defaults.program);
  return RunMain(log, [&] {
    return ExitCode(RunCommand(defaults, argc, argv, read_served, log), log);
  });
}

}  // namespace astra
