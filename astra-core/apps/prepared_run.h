// Carries out a run of a program or of an execution trace, and writes what
// comes of it.

#ifndef ASTRA_CORE_APPS_PREPARED_RUN_H_
#define ASTRA_CORE_APPS_PREPARED_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/run_estimate.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/run_subject.h"
#include "astra-core/base/log.h"
#include "astra-core/run/run.h"

namespace astra {

// A run whose inputs have been read, as a view of its request.
struct PreparedRun {
  RunSubject subject;
  SimulationOptions& simulation;    // Of the request; CarryOut() watches by it.
  std::vector<std::string> layers;  // Names of modules, or of nodes.
  std::function<absl::StatusOr<RunEstimate>()> estimate;
  std::function<absl::StatusOr<RunResult>()> run;
};

// With --estimate prints how much there is to simulate. Otherwise runs, writes
// the result files and prints the summary. `warnings` are all of the inputs,
// which are reported first.
//
// Errors: those of the run and of the files; Aborted or Internal for a run that
// has not finished, whose files are written, too.
absl::Status CarryOut(const RunDefaults& defaults, const RunOptions& options,
                      const Warnings& warnings, const Log& log,
                      const PreparedRun& prepared);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PREPARED_RUN_H_
