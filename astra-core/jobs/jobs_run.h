// Runs several jobs on one network, on which they meet.
//
// Each job has GPUs of its own. A training job goes through its iterations, one
// after the other: an iteration begins when the last rank has ended the one
// before. A job that serves begins with its first request. The jobs share
// nothing but links, switches and storage servers. At equal times the jobs act
// in the order of their list.

#ifndef ASTRA_CORE_JOBS_JOBS_RUN_H_
#define ASTRA_CORE_JOBS_JOBS_RUN_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/job.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/registry/registry.h"
#include "topology/topology.h"

namespace astra {

struct JobsRequest {
  std::vector<Job> jobs;                // At least one. No two share a GPU.
  const Topology& topology;             // Must outlive the request.
  Fidelity fidelity = Fidelity::kFlow;  // Flow or packet.
  NetworkOptions network;
  ProgressWatch on_progress = nullptr;  // May be empty.
  // Called with each collective of any job that ends. May be empty.
  std::function<void(const CollectiveRecord&)> on_collective = nullptr;
};

struct JobsResult {
  std::vector<JobResult> jobs;     // As in the request.
  std::vector<double> link_bytes;  // By link, of all jobs, with headers.
  NetworkStatistics network;
  TimePs end;  // When the last job, or what it wrote or read, ended.
};

// Errors: those of Simulate() and of ServingWork, after the name of the job;
// FailedPrecondition if no path leads from a rank to a storage server; Internal
// if what is written or read never arrives; of on_progress.
absl::StatusOr<JobsResult> RunJobs(const JobsRequest& request);

// Runs `jobs[job]` of the request as if it were the only one. Errors: those of
// RunJobs().
absl::StatusOr<JobsResult> RunAlone(const JobsRequest& request, size_t job);

// Runs the jobs as if none of them used storage. Errors: those of RunJobs().
absl::StatusOr<JobsResult> RunWithoutStorage(const JobsRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_JOBS_RUN_H_
