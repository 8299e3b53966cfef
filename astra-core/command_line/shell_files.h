// Generates the bash completion and the manual page of a program. Both are made
// from the table of options that the program itself reads, so they cannot
// disagree with it.

#ifndef ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_
#define ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// A term and its explanation, which is empty where the term speaks for itself.
struct ShellTerm {
  std::string name;
  std::string help;
};

// Values that an option takes, maybe among others.
struct ShellValues {
  std::string_view option;  // Long name of the option.
  std::vector<ShellTerm> values;
};

// A command, called as: PROGRAM NAME OPERANDS [options]
struct ShellCommand {
  std::string_view name;
  // Operands as --help shows them: "SWEEP", "FOLDER [FOLDER]". "COMMAND" stands
  // for the name of another command.
  std::string_view operands;
  std::string_view help;  // Description in one line.
  absl::Span<const OptionSpec> options = {};
  // The installed program that the command stands for, if it is one. Bash then
  // completes what follows the command as it does behind this program.
  std::string_view program = {};
};

struct ShellProgram {
  std::string_view name = {};
  // The text of --help. Its first paragraph is the usage; its second one
  // describes the program in one or more sentences.
  std::string help = {};
  // A program has either options, or commands with their own options.
  absl::Span<const OptionSpec> options = {};
  // Operands of a program without commands, as those of a ShellCommand.
  std::string_view operands = {};
  std::vector<ShellCommand> commands = {};
  std::vector<ShellValues> values = {};  // Values of any of these options.
  // The fields below are used only for the manual.
  std::vector<ShellTerm> exit_codes = {};
  std::vector<ShellTerm> files = {};
  absl::Span<const CommandExample> examples = {};
  std::vector<std::string_view> related = {};  // Names of related programs.
};

// Returns a file that bash reads, either by itself or through the package
// bash-completion. It completes commands, options that are not given yet, and
// values. The name of a value in --help decides what is offered: files for FILE
// and LOG, folders for DIR, files with commas between them for "FILE,...". An
// operand called FOLDER is a folder, an operand called COMMAND is a command,
// and any other operand is a YAML file. The files of programs that commands
// stand for must lie in the same folder.
//
// Requires: each of `values` belongs to an option and contains no blanks.
std::string BashCompletion(const ShellProgram& program);

// Returns the source of the page in section 1 for `man`: ASCII roff with the
// macros of man(7). `version` is the version of the project. The page contains
// no date.
//
// Requires: the same as BashCompletion().
std::string ManPage(const ShellProgram& program, std::string_view version);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_
