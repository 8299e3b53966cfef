// Reads the file of --jobs and what it names.

#ifndef ASTRA_CORE_APPS_JOBS_INPUTS_H_
#define ASTRA_CORE_APPS_JOBS_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/log.h"
#include "astra-core/jobs/jobs_file.h"
#include "astra-core/jobs/jobs_run.h"
#include "topology/topology.h"

namespace astra {

struct JobsInputs {
  JobsFile file;
  std::vector<Job> jobs;             // As in the file.
  std::vector<std::string> servers;  // Of each, such as "0-3 8".
  NetworkOptions network;            // With the events of links.
  std::vector<std::string> events;   // What happens; see RunEvents::texts.
  WorkBudget budget;                 // Of all that will be run.
};

// `topology` is that of the options.
//
// Errors: those of the readers, PlaceJobs, PartOfCluster and RequestOn, with
// the job that they are about.
absl::StatusOr<JobsInputs> ReadJobsInputs(const RunOptions& options,
                                          const Topology& topology,
                                          Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JOBS_INPUTS_H_
