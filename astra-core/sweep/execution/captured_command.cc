#include "astra-core/sweep/execution/captured_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "fmt/core.h"

namespace astra {
namespace {

// Calls posix_spawnp() with signals as in a new shell and returns its error.
int Spawn(std::vector<std::string>& words, std::string_view hidden, int out,
          int error, pid_t* pid) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, error, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int failure =
      posix_spawnp(pid, words.front().c_str(), &files, &attributes,
                   arguments.data(), EnvironmentWithout(hidden).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failure;
}

std::string Contents(int file) {
  std::string contents;
  char part[65536];
  while (true) {
    const ssize_t size =
        pread(file, part, sizeof(part), static_cast<off_t>(contents.size()));
    if (size <= 0) return contents;
    contents.append(part, static_cast<size_t>(size));
  }
}

}  // namespace

std::vector<char*> EnvironmentWithout(std::string_view hidden) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!hidden.empty() && text.substr(0, hidden.size()) == hidden) continue;
    variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

absl::StatusOr<CapturedCommand> CapturedCommand::Start(
    std::vector<std::string> words, std::string_view hidden) {
  // Memory files never fill up, so nobody has to read them while the program
  // runs.
  CapturedCommand command(memfd_create("stdout", MFD_CLOEXEC),
                          memfd_create("stderr", MFD_CLOEXEC));
  const int failure =
      command.out_ < 0 || command.error_ < 0
          ? errno
          : Spawn(words, hidden, command.out_, command.error_, &command.pid_);
  if (failure == 0) return command;
  command.pid_ = 0;
  return absl::FailedPreconditionError(fmt::format(
      "{}: cannot be run: {}", words.front(), std::strerror(failure)));
}

std::optional<CommandResult> CapturedCommand::Reap(int flags) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &status, flags);
  } while (ended < 0 && errno == EINTR);
  if (ended != pid_) return std::nullopt;
  pid_ = 0;
  return CommandResult{
      .exit_code =
          WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
      .out = Contents(out_),
      .error = Contents(error_),
  };
}

std::optional<CommandResult> CapturedCommand::Poll() { return Reap(WNOHANG); }

CommandResult CapturedCommand::Wait() { return *Reap(0); }

absl::StatusOr<CommandResult> CapturedCommand::Wait(
    const StopSignals& signals) {
  while (true) {
    if (std::optional<CommandResult> result = Poll()) return *std::move(result);
    if (const char* signal = signals.Wait(std::chrono::milliseconds(200))) {
      return absl::CancelledError(fmt::format("stopped by {}", signal));
    }
  }
}

CapturedCommand::~CapturedCommand() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    Reap(0);
  }
  if (out_ >= 0) close(out_);
  if (error_ >= 0) close(error_);
}

}  // namespace astra
