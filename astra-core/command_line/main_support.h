// What every main does around its work: options that only print, errors in one
// line, exit codes.

#ifndef ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_
#define ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// What the message of an error begins with where the layout of a workload is
// not legal ("illegal layout: TP 3 does not divide the 32 attention heads").
// The exit code is 2, as of all bad input. A sweep leaves such points out.
constexpr std::string_view kIllegalLayout = "illegal layout: ";

// 0 if `status` is ok. Else logs its message and returns the code that
// WithExitCode() gave it, or 2 for what the user can mend (bad input) and 1 for
// a run that failed.
int ExitCode(const absl::Status& status, const Log& log);

// `status` with the exit code that ExitCode() is to return for it.
absl::Status WithExitCode(absl::Status status, int code);

// Returns what `run` returns, the exit code of the program. Where memory runs
// out, `run` is left with everything that it held given back and its temporary
// files removed; then this logs one line and returns 2.
int WithinMemory(const Log& log, absl::FunctionRef<int()> run);

// Prints the help text or the version, if `flags` asks for one; else returns
// false.
bool PrintedInstead(const CommandLine& flags, std::string_view program,
                    std::string_view help);

// Prints to stdout, with control characters other than tabs and line ends
// escaped, since names from files are among the text. FlushStdout() says
// whether that worked.
void Print(std::string_view text);

// Makes sure that what was printed has reached stdout.
//
// Errors: PermissionDenied if it has not, as on a full disk.
absl::Status FlushStdout();

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_MAIN_SUPPORT_H_
