#include "tests/testing/programs.h"

#include <sys/wait.h>

#include <cstdlib>

#include "astra-core/base/check.h"
#include "tests/testing/files.h"

namespace astra::testing {

std::string ProgramPath(const std::string& program) {
  return fmt::format("{}/{}", ASTRA_BIN_DIR, program);
}

bool CanLimitMemory() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

ProgramResult RunProgram(const std::string& program,
                         const std::string& arguments,
                         const std::string& folder) {
  const TemporaryFolder output;
  const std::string command = fmt::format(
      "cd '{}' && '{}' {} >'{}' 2>'{}'", folder, ProgramPath(program),
      arguments, output.PathOf("out"), output.PathOf("error"));
  const int status = std::system(command.c_str());
  ASTRA_CHECK(WIFEXITED(status), "{} ended with status {}", command, status);
  return {.exit_code = WEXITSTATUS(status),
          .out = ReadText(output.PathOf("out")),
          .error = ReadText(output.PathOf("error"))};
}

}  // namespace astra::testing
