// Runs an execution trace (--chakra) and writes its results.

#ifndef ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_
#define ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_

#include "absl/status/status.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"

namespace astra {

// Reads the trace and the cluster of `options`, runs it, writes the result
// files and prints the summary. `warnings` are those of the options.
//
// Errors: those of the readers, of RunTrace() and of the files; Aborted or
// Internal for a run that has not finished, whose files are written, too.
absl::Status RunChakraProgram(const RunDefaults& defaults,
                              const RunOptions& options, Warnings warnings,
                              const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_
