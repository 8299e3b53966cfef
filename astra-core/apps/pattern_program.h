// Runs patterns of traffic on a network (--pattern) and writes their results.

#ifndef ASTRA_CORE_APPS_PATTERN_PROGRAM_H_
#define ASTRA_CORE_APPS_PATTERN_PROGRAM_H_

#include "absl/status/status.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"

namespace astra {

// Draws the traffic of `options` on their cluster, runs it, writes the result
// files and prints the summary. `warnings` are those of the options.
//
// Errors: those of the readers, of DrawTraffic(), RunTraffic() and the files;
// Aborted or Internal for a run that has not finished, whose files are written,
// too.
absl::Status RunPatternProgram(const RunDefaults& defaults,
                               const RunOptions& options, Warnings warnings,
                               const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PATTERN_PROGRAM_H_
