// Reads the file of --jobs and what it names.

#ifndef ASTRA_CORE_APPS_JOBS_INPUTS_H_
#define ASTRA_CORE_APPS_JOBS_INPUTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/served_job.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/log.h"
#include "astra-core/jobs/jobs_file.h"
#include "astra-core/jobs/jobs_run.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

struct JobsInputs {
  JobsFile file;
  std::vector<Job> jobs;  // As in the file.
  // Holds the jobs that serve, by job; those that train have null.
  std::vector<std::unique_ptr<ServedJob>> served;
  std::vector<std::string> servers;  // Of each, such as "0-3 8".
  NetworkOptions network;            // With the events of links.
  std::vector<std::string> events;   // What happens; see RunEvents::texts.
  WorkBudget budget;                 // Of all that will be run but serving.
  // Routes of the networks on which jobs that serve time messages alone.
  std::unique_ptr<Routes> idle_routes;
};

// `topology` is that of the options; both must outlive the result.
// `read_served` is null for a program that cannot serve.
//
// Errors: those of the readers, PlaceJobs, PartOfCluster and RequestOn, with
// the job that they are about; InvalidArgument for a job that serves in a
// program that cannot, or on GPUs whose speed changes.
absl::StatusOr<JobsInputs> ReadJobsInputs(const RunOptions& options,
                                          const Topology& topology,
                                          ReadServedJob read_served,
                                          Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JOBS_INPUTS_H_
