// Runs the jobs of --jobs on one cluster, and each of them alone to compare.

#ifndef ASTRA_CORE_APPS_JOBS_PROGRAM_H_
#define ASTRA_CORE_APPS_JOBS_PROGRAM_H_

#include "absl/status/status.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/served_job.h"
#include "astra-core/base/log.h"

namespace astra {

// Reads the files, runs the jobs, writes the results and prints the summary.
// Requires options.jobs_file. `read_served` is null for a program that cannot
// serve. Reports `warnings` and those of the files to `log`.
//
// Errors: those of the readers, of PlaceJobs, PartOfCluster and RunJobs;
// Aborted if a signal ends the run. A run that has begun and does not end
// leaves no results in the output folder, not even those of an earlier run.
absl::Status RunJobsProgram(const RunDefaults& defaults,
                            const RunOptions& options,
                            ReadServedJob read_served, Warnings warnings,
                            const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JOBS_PROGRAM_H_
