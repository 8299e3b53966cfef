// Tells what the result files of a run hold, for the manual.

#ifndef ASTRA_CORE_APPS_SHELL_RESULT_FILES_H_
#define ASTRA_CORE_APPS_SHELL_RESULT_FILES_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/command_line/shell_files.h"

namespace astra {

// Describes the files `names`, in this order, as docs/guide/results.md does.
std::vector<ShellTerm> ResultFiles(absl::Span<const std::string_view> names);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SHELL_RESULT_FILES_H_
