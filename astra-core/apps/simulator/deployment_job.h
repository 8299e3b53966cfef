// Serves requests as one of several jobs: the deployment, its scheduler and its
// costs are those of simai_serving, and so are the files that it writes.

#ifndef ASTRA_CORE_APPS_SIMULATOR_DEPLOYMENT_JOB_H_
#define ASTRA_CORE_APPS_SIMULATOR_DEPLOYMENT_JOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/served_job.h"
#include "astra-core/base/log.h"
#include "astra-core/jobs/jobs_file.h"
#include "topology/topology.h"

namespace astra {

// A ReadServedJob. Errors: also those of ReplicaTimes and ServingSetup, and
// InvalidArgument for a GPU other than that of the topology.
absl::StatusOr<std::unique_ptr<ServedJob>> ReadDeploymentJob(
    const JobSpec& spec, const RunOptions& options, const Topology& topology,
    Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_DEPLOYMENT_JOB_H_
