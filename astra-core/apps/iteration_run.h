// Runs one iteration from the options of gen_workload and of the programs that
// run a workload, without files between them.

#ifndef ASTRA_CORE_APPS_ITERATION_RUN_H_
#define ASTRA_CORE_APPS_ITERATION_RUN_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/run/run.h"
#include "workload/program.h"

namespace astra {

// Returns what gen_workload --format program would write. Errors: as those of
// gen_workload, which `gen_workload: ` begins.
absl::StatusOr<Program> GenerateProgram(const GenWorkloadOptions& options);

// Runs `program`, without an explanation, and keeps the timeline on request.
// Errors: as those of simai_analytical,
// which `simai_analytical: ` begins; also for a run that does not finish.
absl::StatusOr<RunResult> RunGenerated(const RunOptions& options,
                                       Program program,
                                       bool keeps_timeline = false);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_ITERATION_RUN_H_
