// Lets jobs go on, one after the other, on the network that they share.
//
//   SharedNetwork shared(*network, topology, /*num_jobs=*/2);
//   std::vector<std::unique_ptr<RunningJob>> jobs = ...;
//   ASTRA_RETURN_IF_ERROR(RunTogether(names, jobs, report, shared));
//
// At an instant all jobs go on until none has anything to do, in the order of
// the list. Then the network is simulated to the next instant at which a
// message arrives or a job has to go on. The result thus depends on nothing but
// the inputs.

#ifndef ASTRA_CORE_JOBS_RUN_TOGETHER_H_
#define ASTRA_CORE_JOBS_RUN_TOGETHER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/jobs/running_job.h"
#include "astra-core/jobs/shared_network.h"

namespace astra {

// Runs the jobs to the end of the last. `names` are those of the jobs, for
// messages; those without a name may be "". `report` is called many times a
// second.
//
// Errors: those of the jobs, after their name; Internal if messages never
// arrive; of `report`.
absl::Status RunTogether(absl::Span<const std::string> names,
                         absl::Span<const std::unique_ptr<RunningJob>> jobs,
                         const std::function<absl::Status()>& report,
                         SharedNetwork& shared);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_RUN_TOGETHER_H_
