// What bash and man read about a program: the completion of its command line
// and its page of the manual. Both are made of the table of options that the
// program itself reads, so that they cannot say anything else.

#ifndef ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_
#define ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// A term, and what it is; nothing where it speaks for itself.
struct ShellTerm {
  std::string name;
  std::string help;
};

// Values that an option takes, maybe beside others.
struct ShellValues {
  std::string_view option;  // Its long name.
  std::vector<ShellTerm> values;
};

// PROGRAM NAME OPERANDS [options]
struct ShellCommand {
  std::string_view name;
  // "SWEEP", "FOLDER [FOLDER]"; "COMMAND" is the name of another command.
  std::string_view operands;
  std::string_view help;  // One line.
  absl::Span<const OptionSpec> options = {};
  // The installed program that the command stands for, if it is one. Bash then
  // completes what follows the command as it does behind this program.
  std::string_view program = {};
};

struct ShellProgram {
  std::string_view name = {};
  // What --help prints. Its first paragraph is the usage; its second says in
  // one or more sentences what the program does.
  std::string help = {};
  // One of the two: the options, or commands with their own.
  absl::Span<const OptionSpec> options = {};
  std::vector<ShellCommand> commands = {};
  std::vector<ShellValues> values = {};  // Of any of these options.
  // For the manual only.
  std::vector<ShellTerm> exit_codes = {};
  std::vector<ShellTerm> files = {};
  absl::Span<const CommandExample> examples = {};
  std::vector<std::string_view> related = {};  // Other programs.
};

// The text of a file that bash reads: alone, or found by the package
// bash-completion where it is installed. It offers what may follow: commands,
// options that are not there yet, values. A value that --help calls FILE or
// LOG is a file, one called DIR a folder, "FILE,..." files with commas between.
// Of operands, FOLDER is a folder, COMMAND a command, and any other a YAML
// file. The files of programs that commands stand for must lie in the same
// folder.
//
// Requires: each of `values` is of an option, and has no blanks.
std::string BashCompletion(const ShellProgram& program);

// The source of the page in section 1, for `man`: in roff, with man(7)'s
// macros, of ASCII. `version` is that of the project; there is no date in it.
//
// Requires: as above.
std::string ManPage(const ShellProgram& program, std::string_view version);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_SHELL_FILES_H_
