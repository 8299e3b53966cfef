#include "astra-core/command_line/main_support.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "absl/strings/cord.h"
#include "astra-core/base/names.h"
#include "astra-core/base/stop_handler.h"
#include "astra-core/command_line/version.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Key of the payload in which a status holds its exit code.
constexpr char kExitCode[] = "exit code";

// Occupies standard streams that are closed, or the next file that is opened
// would be taken for one. Reading from and printing to them fails as before.
void OccupyStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    // Takes the lowest number that is free, which is that of the stream.
    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int ExitCode(const absl::Status& status, const Log& log) {
  if (status.ok()) return 0;
  log.Error(std::string(status.message()));
  if (const auto code = status.GetPayload(kExitCode)) {
    return std::stoi(std::string(*code));
  }
  const bool is_failed_run = status.code() == absl::StatusCode::kInternal ||
                             status.code() == absl::StatusCode::kAborted;
  return is_failed_run ? 1 : 2;
}

absl::Status WithExitCode(absl::Status status, int code) {
  status.SetPayload(kExitCode, absl::Cord(std::to_string(code)));
  return status;
}

int RunMain(const Log& log, absl::FunctionRef<int()> run) {
  OccupyStandardStreams();
  EndOnSignals(log.program());
  // A container that is asked for an impossible size throws length_error.
  try {
    return run();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  log.Error(
      "out of memory: more is needed than is free here or allowed (ulimit -v); "
      "a smaller cluster, workload or file needs less");
  return 2;
}

bool PrintedInstead(const CommandLine& flags, std::string_view program,
                    std::string_view help) {
  if (flags.has("help")) {
    Print(help);
    return true;
  }
  if (flags.has("version")) {
    Print(fmt::format("{} {}\n", program, Version()));
    return true;
  }
  return false;
}

// Uses fwrite, because fmt::print throws where it cannot write.
void Print(std::string_view text) {
  const std::string printable = Printable(text, "\t\n");
  std::fwrite(printable.data(), 1, printable.size(), stdout);
}

absl::Status FlushStdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      fmt::format("stdout: cannot be written: {}", std::strerror(errno)));
}

}  // namespace astra
