// Functions that every main calls around its work: they print help and version,
// report an error on one line, and choose the exit code.

#ifndef ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_
#define ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Begin of an error message where the layout of a workload is not legal
// ("illegal layout: TP 3 does not divide the 32 attention heads"). The exit
// code is 2, as for all bad input. A sweep leaves such points out.
constexpr std::string_view kIllegalLayout = "illegal layout: ";

// Returns 0 if `status` is ok. Otherwise logs its message and returns the code
// set by WithExitCode(), or else 2 for bad input, which the user can correct,
// and 1 for a run that failed.
int ExitCode(const absl::Status& status, const Log& log);

// Returns `status` with the exit code that ExitCode() will return for it.
absl::Status WithExitCode(absl::Status status, int code);

// Returns the result of `run`, which is the exit code of the program; every
// main calls it. If memory runs out, `run` ends early and releases everything,
// including temporary files; this function then logs one line and returns 2. A
// signal also ends the program with one line; see EndOnSignals().
int RunMain(const Log& log, absl::FunctionRef<int()> run);

// Prints the help text or the version if `flags` asks for one. Returns whether
// it printed.
bool PrintedInstead(const CommandLine& flags, std::string_view program,
                    std::string_view help);

// Prints to stdout. Control characters other than tabs and line ends are
// escaped, since `text` may contain names from files. FlushStdout() reports
// failures.
void Print(std::string_view text);

// Writes everything that was printed to stdout.
//
// Errors: PermissionDenied if that fails, as on a full disk.
absl::Status FlushStdout();

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_
