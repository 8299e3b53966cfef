// Runs a program and captures what it prints.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_CAPTURED_COMMAND_H_
#define ASTRA_CORE_SWEEP_EXECUTION_CAPTURED_COMMAND_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/stop_signals.h"

namespace astra {

struct CommandResult {
  int exit_code = 0;  // Exit code, or 128 + the signal number, as in shells.
  std::string out;    // Text that the program printed to stdout.
  std::string error;  // Text that the program printed to stderr.
};

// Returns the environment of this process for exec(), without the variables
// whose names begin with `hidden`. An empty `hidden` hides no variable.
std::vector<char*> EnvironmentWithout(std::string_view hidden);

// A running program whose output is captured. No shell interprets the words:
// the program receives them as they are. Its stdin is empty, and Ctrl-C does
// not reach it.
class CapturedCommand {
 public:
  // Starts the program words[0], looked up on PATH. The program does not see
  // environment variables whose names begin with `hidden`, unless that is
  // empty.
  //
  // Errors: FailedPrecondition "PROGRAM: cannot be run: reason".
  static absl::StatusOr<CapturedCommand> Start(std::vector<std::string> words,
                                               std::string_view hidden);

  // Returns the result if the program has ended, and none while it runs. Must
  // not be called again after it has returned a result.
  std::optional<CommandResult> Poll();

  // Waits for the program to end and returns its result.
  CommandResult Wait();

  // Waits for the program to end, or for a stop signal.
  //
  // Errors: Cancelled "stopped by SIGINT".
  absl::StatusOr<CommandResult> Wait(const StopSignals& signals);

  // Kills the program if it still runs.
  ~CapturedCommand();
  CapturedCommand(CapturedCommand&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        out_(std::exchange(other.out_, -1)),
        error_(std::exchange(other.error_, -1)) {}
  CapturedCommand& operator=(CapturedCommand&&) = delete;

 private:
  CapturedCommand(int out, int error) : out_(out), error_(error) {}

  std::optional<CommandResult> Reap(int flags);

  pid_t pid_ = 0;  // Process id of the program; 0 when nothing runs.
  int out_;
  int error_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_CAPTURED_COMMAND_H_
