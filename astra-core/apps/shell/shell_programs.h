// Describes the programs for shells and the manual, beyond their options.

#ifndef ASTRA_CORE_APPS_SHELL_SHELL_PROGRAMS_H_
#define ASTRA_CORE_APPS_SHELL_SHELL_PROGRAMS_H_

#include <vector>

#include "astra-core/command_line/shell_files.h"

namespace astra {

// Returns all programs that are installed, by name.
std::vector<ShellProgram> ShellPrograms();

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SHELL_SHELL_PROGRAMS_H_
