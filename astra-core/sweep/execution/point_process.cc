#include "astra-core/sweep/execution/point_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "astra-core/base/files.h"
#include "astra-core/base/host_name.h"
#include "astra-core/base/shell_word.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/execution/captured_command.h"
#include "astra-core/sweep/execution/run_metrics.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int kBadInput = 2;  // Exit code of the programs for bad input.

// Prefix of the environment variables of simai_simulator, which are hidden from
// it: only the sweep file defines a point.
constexpr std::string_view kSimaiPrefix = "AS_";

bool IsRun(const PointStep& step) {
  return step.program->role == ProgramRole::kRun;
}

std::string LogFile(const SweepRun& run, const PreparedPoint& point) {
  return run.folder.PointFolder(point.key()) + "/log.txt";
}

// Turns the child into the program after fork(), using only async-signal-safe
// calls. Its stdin is empty, stdout and stderr go to `log`, all signals are as
// in a new shell, and it dies with its parent.
[[noreturn]] void BecomeProgram(const char* program, char* const* arguments,
                                char* const* environment, const char* folder,
                                int log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // The parent died before prctl().
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (chdir(folder) == 0) execve(program, arguments, environment);
  const char* reason = std::strerror(errno);
  const auto say = [](const char* text) {
    return write(STDERR_FILENO, text, std::strlen(text)) >= 0;
  };
  _exit(say(program) && say(": error: cannot be run: ") && say(reason) ? 127
                                                                       : 126);
}

// Starts `words` in `folder` and appends the program's output to `log`.
absl::StatusOr<pid_t> Spawn(const std::string& program,
                            std::vector<std::string> words,
                            const std::string& folder, const std::string& log) {
  const int file =
      open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    return absl::PermissionDeniedError(
        fmt::format("{}: {}", log, std::strerror(errno)));
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string line = fmt::format("$ {}\n", ShellCommand(words));
  const bool is_written = write(file, line.data(), line.size()) ==
                          static_cast<ssize_t>(line.size());
  const std::vector<char*> environment = EnvironmentWithout(kSimaiPrefix);
  const pid_t parent = getpid();
  const pid_t child = is_written ? fork() : -1;
  if (child == 0) {
    BecomeProgram(program.c_str(), arguments.data(), environment.data(),
                  folder.c_str(), file, parent);
  }
  const int error = errno;
  close(file);
  if (child > 0) {
    // Parent and child both call this; either may be first.
    setpgid(child, child);
    return child;
  }
  return absl::InternalError(
      fmt::format("{}: cannot be started: {}", program, std::strerror(error)));
}

// Returns the text of the last error in the log, or else its last line.
std::string LastWords(const std::string& log) {
  const absl::StatusOr<std::string> text = ReadFile(log);
  if (!text.ok()) return "";
  std::string_view rest = *text;
  std::string last;
  while (!rest.empty()) {
    const size_t end = rest.find_last_not_of('\n');
    if (end == rest.npos) break;
    rest = rest.substr(0, end + 1);
    // 0 where there is no line before.
    const size_t begin = rest.rfind('\n') + 1;
    const std::string_view line = rest.substr(begin);
    // The line that names the step's own command.
    if (line.substr(0, 2) == "$ ") break;
    if (const size_t at = line.find(": error: "); at != line.npos) {
      return std::string(line.substr(at + 9));
    }
    if (last.empty()) last = line;
    rest = rest.substr(0, begin);
  }
  return last;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const size_t size =
      std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

void Remove(const std::string& path) {
  std::error_code ignored;  // The file may not exist.
  std::filesystem::remove(path, ignored);
}

}  // namespace

std::vector<std::string> StepCommand(const SweepRun& run,
                                     const PreparedPoint& point, size_t step) {
  const PointStep& it = point.steps[step];
  std::vector<std::string> words = {std::string(it.program->name)};
  words.insert(words.end(), it.arguments.begin(), it.arguments.end());
  const auto add = [&](std::string_view option, std::string value) {
    words.push_back(fmt::format("--{}", option));
    words.push_back(std::move(value));
  };
  if (!IsRun(it)) {
    add("output", run.folder.InputFile(it));
    return words;
  }
  for (const PointStep& input : point.steps) {
    if (IsRun(input)) continue;
    add(input.program->role == ProgramRole::kTopology
            ? it.program->topology_option
            : it.program->workload_option,
        run.folder.InputFile(input));
  }
  add("output", run.folder.PointFolder(it.key));
  add("result", run.name);
  return words;
}

absl::StatusOr<PointProcess> PointProcess::Start(const SweepRun& run,
                                                 const PreparedPoint& point) {
  const std::string folder = run.folder.PointFolder(point.key());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::PermissionDeniedError(
        fmt::format("{}: {}", folder, error.message()));
  }
  Remove(run.folder.RecordFile(point.key()));
  Remove(LogFile(run, point));
  RemoveLeftTemporaries(folder);
  PointProcess process(run, point);
  ASTRA_RETURN_IF_ERROR(process.StartNextStep());
  return process;
}

absl::Status PointProcess::StartNextStep() {
  // An input file gets its final name only once it is complete.
  const auto is_made = [&](const PointStep& step) {
    std::error_code error;
    return !IsRun(step) &&
           std::filesystem::exists(run_->folder.InputFile(step), error);
  };
  while (is_made(point_->steps[step_])) ++step_;
  const std::string program = fmt::format("{}/{}", run_->program_folder,
                                          point_->steps[step_].program->name);
  ASTRA_ASSIGN_OR_RETURN(
      pid_, Spawn(program, StepCommand(*run_, *point_, step_), run_->origin,
                  LogFile(*run_, *point_)));
  ++step_;
  return absl::OkStatus();
}

void PointProcess::Kill(std::string reason) {
  if (was_told_to_end()) return;
  kill_reason_ = std::move(reason);
  kill(-pid_, SIGKILL);
}

void PointProcess::Abandon() {
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<std::optional<PointRecord>> PointProcess::Ended(
    int wait_status, const rusage& usage) {
  cost_.cpu_s += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  cost_.peak_memory_mib = std::max(cost_.peak_memory_mib,
                                   static_cast<double>(usage.ru_maxrss) / 1024);
  const std::string_view program = point_->steps[step_ - 1].program->name;
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    std::string reason = was_told_to_end()
                             ? kill_reason_
                             : fmt::format("{} was killed by signal {} ({})",
                                           program, signal, strsignal(signal));
    ASTRA_ASSIGN_OR_RETURN(PointRecord record,
                           Finish(128 + signal, std::move(reason), false));
    return std::optional<PointRecord>(std::move(record));
  }
  const int exit_code = WEXITSTATUS(wait_status);
  if (exit_code == 0 && step_ < point_->steps.size()) {
    ASTRA_RETURN_IF_ERROR(StartNextStep());
    return std::optional<PointRecord>();
  }
  std::string reason;
  bool illegal = false;
  if (exit_code != 0) {
    const std::string words = LastWords(LogFile(*run_, *point_));
    illegal = exit_code == kBadInput &&
              words.compare(0, kIllegalLayout.size(), kIllegalLayout) == 0;
    reason = illegal ? words.substr(kIllegalLayout.size())
             : words.empty()
                 ? fmt::format("{}: exit code {}", program, exit_code)
                 : fmt::format("{}: {}", program, words);
  }
  ASTRA_ASSIGN_OR_RETURN(PointRecord record,
                         Finish(exit_code, std::move(reason), illegal));
  return std::optional<PointRecord>(std::move(record));
}

void PointProcess::RemoveLargeFiles() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(
           run_->folder.PointFolder(point_->key()), error)) {
    if (!file.is_regular_file(error)) continue;
    const std::string name = file.path().filename().string();
    const uintmax_t size = file.file_size(error);
    if (error || name == "log.txt" ||
        size <= static_cast<uintmax_t>(run_->keep_bytes)) {
      continue;
    }
    Remove(file.path().string());
    names.push_back(fmt::format("removed {}: {} bytes, above --keep {}B\n",
                                name, size, run_->keep_bytes));
  }
  std::sort(names.begin(), names.end());
  std::ofstream log(LogFile(*run_, *point_), std::ios::app);
  for (const std::string& name : names) log << name;
}

absl::StatusOr<PointRecord> PointProcess::Finish(int exit_code,
                                                 std::string reason,
                                                 bool illegal) {
  PointRecord record;
  record.key = point_->key();
  record.illegal = illegal;
  record.exit_code = exit_code;
  record.reason = std::move(reason);
  record.version = run_->version;
  record.commands.push_back(ShellCommand({"cd", run_->origin}));
  for (size_t step = 0; step < point_->steps.size(); ++step) {
    record.commands.push_back(ShellCommand(StepCommand(*run_, *point_, step)));
  }
  record.inputs = point_->inputs;
  if (exit_code == 0) {
    absl::StatusOr<std::vector<Metric>> metrics =
        ReadRunMetrics(run_->folder.PointFolder(record.key));
    if (metrics.ok()) {
      record.metrics = *std::move(metrics);
    } else {
      record.exit_code = 1;
      record.reason = std::string(metrics.status().message());
    }
  }
  record.finished = record.exit_code == 0;
  RemoveLargeFiles();
  record.cost = cost_;
  record.cost.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_)
          .count();
  record.cost.host = HostName();
  record.cost.ended = UtcNow();
  ASTRA_RETURN_IF_ERROR(WriteFile(run_->folder.RecordFile(record.key),
                                  FormatPointRecord(record)));
  return record;
}

}  // namespace astra
