// Writes the option tables of all programs as JSON, for tools that call the
// programs: the Python package makes a function of each program of it.
//
//   {"version": "0.1.0",
//    "programs": [
//      {"name": "gen_topo", "command": "topo", "summary": "write the ...",
//       "description": "Writes the ...", "operands": "",
//       "options": [{"name": "gpu-type", "aliases": ["gt"], "value": "NAME",
//                    "group": "Links", "help": "type of the GPUs",
//                    "values": ["A100", ...]}, ...],
//       "commands": []},
//      ...]}
//
// "value" is empty for a flag. A program has either options or commands; a
// command has the keys name, summary, operands and options of a program.

#ifndef ASTRA_CORE_APPS_SHELL_PROGRAMS_JSON_H_
#define ASTRA_CORE_APPS_SHELL_PROGRAMS_JSON_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/command_line/shell_files.h"

namespace astra {

// Returns the text of the file. It holds the programs that a command of
// `simai` stands for, in the order of these commands.
//
// Requires: `programs` has each of them.
std::string ProgramsJson(absl::Span<const ShellProgram> programs,
                         std::string_view version);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SHELL_PROGRAMS_JSON_H_
