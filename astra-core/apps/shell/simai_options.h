// Commands of simai, each of which stands for one of the other programs.

#ifndef ASTRA_CORE_APPS_SHELL_SIMAI_OPTIONS_H_
#define ASTRA_CORE_APPS_SHELL_SIMAI_OPTIONS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// A command: `simai NAME ARGUMENT...` runs PROGRAM ARGUMENT...
struct SimaiCommand {
  std::string_view name;
  std::string_view program;
  std::string_view help;  // Purpose of the command in one line.
};

// Returns the commands in the order in which people use them.
absl::Span<const SimaiCommand> SimaiCommands();

// Returns the text of --help.
std::string SimaiHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> SimaiExamples();

// Returns the command called `name`.
//
// Errors: InvalidArgument for an unknown name, with the nearest name.
absl::StatusOr<SimaiCommand> FindSimaiCommand(std::string_view name);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SHELL_SIMAI_OPTIONS_H_
