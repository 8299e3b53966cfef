#include "astra-core/apps/physical/launcher.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "astra-core/base/shell_word.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int kNotFound = 127;  // Exit code of a shell for no such program.

// Turns the child into the program, with async-signal-safe calls only.
[[noreturn]] void Become(char* const* words, int input, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);  // Ctrl-C ends the launcher, which then ends the ranks.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(input, STDIN_FILENO) >= 0) {
    execvp(words[0], words);
  }
  _exit(kNotFound);
}

// "the process of rank 3 on node1 has ended with exit code 2".
std::string EndOf(size_t rank, const std::string& host,
                  const std::string& program, int status) {
  std::string how =
      WIFSIGNALED(status)
          ? fmt::format("was ended by signal {}", WTERMSIG(status))
          : fmt::format("has ended with exit code {}", WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    how += host == "localhost"
               ? fmt::format(": is {} there?", ShellWord(program))
               : fmt::format(": is {} on this host, and simai_physical on {}?",
                             ShellWord(program), host);
  }
  return fmt::format("the process of rank {} on {} {}", rank, host, how);
}

}  // namespace

std::vector<std::string> CommandAt(const RankPlace& place,
                                   const std::vector<std::string>& remote_shell,
                                   const std::vector<std::string>& words) {
  if (place.host == "localhost") return words;
  std::vector<std::string> command = remote_shell;
  command.push_back(place.host);
  for (const std::string& word : words) command.push_back(ShellWord(word));
  return command;
}

RankProcesses::~RankProcesses() {
  for (const Process& process : processes_) {
    if (process.pid > 0) kill(process.pid, SIGKILL);
  }
  for (const Process& process : processes_) {
    if (process.pid > 0) waitpid(process.pid, nullptr, 0);
  }
}

absl::Status RankProcesses::Start(std::vector<std::string> command,
                                  std::string host, const std::string& input) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::array<int, 2> ends{};
  // Unlike a pipe, it raises no signal where the process has ended already.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::InternalError(
        fmt::format("cannot start a rank: {}", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) Become(words.data(), ends[0], parent);
  const int error = errno;
  close(ends[0]);
  // A socket holds more than a secret, so this does not wait.
  send(ends[1], input.data(), input.size(), MSG_NOSIGNAL);
  close(ends[1]);
  if (child < 0) {
    return absl::InternalError(
        fmt::format("cannot start a rank: {}", std::strerror(error)));
  }
  processes_.push_back({child, std::move(host), command.front()});
  return absl::OkStatus();
}

absl::Status RankProcesses::Watch() {
  for (size_t rank = 0; rank < processes_.size(); ++rank) {
    Process& process = processes_[rank];
    int status = 0;
    if (process.pid == 0 || waitpid(process.pid, &status, WNOHANG) <= 0) {
      continue;
    }
    process.pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    return absl::AbortedError(
        EndOf(rank, process.host, process.program, status));
  }
  return absl::OkStatus();
}

void RankProcesses::AwaitEnd(std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  const auto runs = [](const Process& process) { return process.pid > 0; };
  while (std::any_of(processes_.begin(), processes_.end(), runs) &&
         std::chrono::steady_clock::now() < until) {
    Watch().IgnoreError();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace astra
