// simai COMMAND ARGUMENT...: becomes the program that the command stands for,
// so that output, exit code and signals are that program's own.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/shell/simai_options.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/own_folder.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Turns this process into `program` of the same folder. Returns only if that
// fails.
//
// Errors: NotFound "PATH: cannot be run: reason".
absl::Status Become(std::string_view program,
                    std::vector<std::string> arguments) {
  std::string path = fmt::format("{}/{}", OwnFolder(), program);
  std::vector<char*> words = {path.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return absl::NotFoundError(
      fmt::format("{}: cannot be run: {}", path, std::strerror(errno)));
}

absl::Status PrintOwn(int argc, const char* const* argv) {
  ASTRA_ASSIGN_OR_RETURN(const CommandLine flags,
                         CommandLine::Parse({}, argc, argv));
  const std::string help = SimaiHelp();
  if (!PrintedInstead(flags, "simai", help)) Print(help);
  return FlushStdout();
}

// Runs a command. `simai help COMMAND ...` means `simai COMMAND ... --help`.
absl::Status Run(int argc, const char* const* argv) {
  const bool asks_help = argc > 1 && std::string_view(argv[1]) == "help";
  if (asks_help) {
    --argc;
    ++argv;
  }
  if (argc < 2 || argv[1][0] == '-') return PrintOwn(argc, argv);
  ASTRA_ASSIGN_OR_RETURN(const SimaiCommand command, FindSimaiCommand(argv[1]));
  std::vector<std::string> arguments(argv + 2, argv + argc);
  if (asks_help) arguments.emplace_back("--help");
  return Become(command.program, std::move(arguments));
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv), log); });
}
