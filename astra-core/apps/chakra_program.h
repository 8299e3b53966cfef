// Runs an execution trace (--chakra) and writes its results.

#ifndef ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_
#define ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_

#include "absl/status/status.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"

namespace astra {

// Reads the trace and the cluster of `options`, and carries the run out.
// `warnings` are those of the options.
//
// Errors: those of the readers, of RunTrace() and of CarryOut().
absl::Status RunChakraProgram(const RunDefaults& defaults,
                              const RunOptions& options, Warnings warnings,
                              const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_CHAKRA_PROGRAM_H_
