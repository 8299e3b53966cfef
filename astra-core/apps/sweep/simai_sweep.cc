// simai_sweep: runs the points of a sweep, here or on a cluster, and compares
// their results.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_results.h"
#include "astra-core/apps/sweep/simai_sweep_run.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Action {
  std::string_view command;
  absl::StatusOr<int> (*run)(const CommandLine& flags);
};

// Functions of the commands, in the order of SweepCommands().
constexpr Action kActions[] = {
    {"run", &SweepRunCommand},       {"resume", &SweepResumeCommand},
    {"retry", &SweepRetryCommand},   {"status", &SweepStatusCommand},
    {"export", &SweepExportCommand}, {"compare", &SweepCompareCommand},
};

absl::StatusOr<int> RunCommand(const SweepCommand& command, int argc,
                               const char* const* argv) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(command.options, argc, argv, command.max_operands));
  if (PrintedInstead(flags, "simai_sweep", SweepCommandHelp(command))) {
    ASTRA_RETURN_IF_ERROR(FlushStdout());
    return 0;
  }
  if (flags.operands().size() < command.min_operands) {
    return absl::InvalidArgumentError(
        fmt::format("{} needs {}", command.name, command.operands));
  }
  const Action* action = std::find_if(
      std::begin(kActions), std::end(kActions),
      [&](const Action& it) { return it.command == command.name; });
  return action->run(flags);
}

absl::StatusOr<int> Run(int argc, const char* const* argv) {
  const bool has_command = argc > 1 && argv[1][0] != '-';
  if (has_command) {
    ASTRA_ASSIGN_OR_RETURN(const SweepCommand* command,
                           FindSweepCommand(argv[1]));
    return RunCommand(*command, argc - 1, argv + 1);
  }
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse({}, argc, argv));
  if (!PrintedInstead(flags, "simai_sweep", SimaiSweepHelp())) {
    return absl::InvalidArgumentError(
        "a command is missing: run, resume, retry, status, export or compare "
        "(--help says more)");
  }
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return 0;
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_sweep");
  return astra::RunMain(log, [&] {
    const absl::StatusOr<int> code = astra::Run(argc, argv);
    return code.ok() ? *code : astra::ExitCode(code.status(), log);
  });
}
