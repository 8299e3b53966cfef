// A program that is run for what it prints.

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
  int exit_code = 0;  // 128 + signal as in shells.
  std::string out;    // What it printed to stdout
  std::string error;  // and to stderr.
};

// The environment of this process, for exec(), without the variables whose
// names begin with `hidden`, if that is not empty.
std::vector<char*> EnvironmentWithout(std::string_view hidden);

// Not through a shell: words are what the program gets. Its stdin is empty, and
// Ctrl-C does not reach it.
class CapturedCommand {
 public:
  // Starts the program words[0], one on PATH. It does not see variables of the
  // environment whose names begin with `hidden`, if that is not empty.
  //
  // Errors: FailedPrecondition "PROGRAM: cannot be run: reason".
  static absl::StatusOr<CapturedCommand> Start(std::vector<std::string> words,
                                               std::string_view hidden);

  // What came of it, once it has ended; not to be called after that.
  std::optional<CommandResult> Poll();

  // The same, when it has ended.
  CommandResult Wait();

  // The same, unless told to stop before.
  //
  // Errors: Cancelled "stopped by SIGINT".
  absl::StatusOr<CommandResult> Wait(const StopSignals& signals);

  // Kills what still runs.
  ~CapturedCommand();
  CapturedCommand(CapturedCommand&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        out_(std::exchange(other.out_, -1)),
        error_(std::exchange(other.error_, -1)) {}
  CapturedCommand& operator=(CapturedCommand&&) = delete;

 private:
  CapturedCommand(int out, int error) : out_(out), error_(error) {}

  std::optional<CommandResult> Reap(int flags);

  pid_t pid_ = 0;  // 0 where nothing runs.
  int out_;
  int error_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_CAPTURED_COMMAND_H_
