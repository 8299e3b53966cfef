// Runs several jobs on one network, on which they meet.
//
// Each job has GPUs of its own and goes through its iterations, one after the
// other: an iteration begins when the last rank has ended the one before. The
// jobs share nothing but links, switches and storage servers. At equal times
// the jobs act in the order of their list.

#ifndef ASTRA_CORE_JOBS_JOBS_RUN_H_
#define ASTRA_CORE_JOBS_JOBS_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/jobs/storage_traffic.h"
#include "astra-core/jobs/storage_use.h"
#include "astra-core/run/explanation.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/registry/registry.h"
#include "topology/cluster_part.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

struct Job {
  std::string name;
  Program program;
  ClusterPart part;  // Of the topology of the run.
  // RunJobs() sets the lowering. Speeds change at times since the start of the
  // whole run, not of an iteration.
  SimulationOptions options;
  TimePs start;
  int64_t iterations = 1;   // At least 1.
  StorageUse storage = {};  // Needs storage servers in `part` unless empty.
};

struct JobsRequest {
  std::vector<Job> jobs;                // At least one. No two share a GPU.
  const Topology& topology;             // Must outlive the request.
  Fidelity fidelity = Fidelity::kFlow;  // Flow or packet.
  NetworkOptions network;
  ProgressWatch on_progress = nullptr;  // May be empty.
  // Called with each collective of any job that ends. May be empty.
  std::function<void(const CollectiveRecord&)> on_collective = nullptr;
};

// When an iteration began and ended.
struct JobIteration {
  TimePs begin;
  TimePs end;
};

struct JobResult {
  TimePs
      start;  // When its first iteration began, or began to wait for storage.
  std::vector<JobIteration> iterations;
  // This is the result of the last iteration; its times are counted from the
  // begin of that iteration.
  SimulationResult result;
  std::optional<Explanation> explanation;
  // By link of the topology: the bytes of the messages of all iterations,
  // without headers.
  std::vector<double> link_bytes;
  std::vector<StorageTransfer> transfers;  // In the order of their begin.
  std::vector<double> storage_link_bytes;  // As link_bytes, of `transfers`.

  // Returns the time of an iteration with what it waits for storage, from
  // `start` to the end of the last. Requires an iteration.
  TimePs MeanIteration() const;
};

struct JobsResult {
  std::vector<JobResult> jobs;     // As in the request.
  std::vector<double> link_bytes;  // By link, of all jobs, with headers.
  NetworkStatistics network;
  TimePs end;  // When the last job, or what it wrote or read, ended.
};

// Errors: those of Simulate(), after the name of the job; FailedPrecondition
// if no path leads from a rank to a storage server; Internal if what is written
// or read never arrives; of on_progress.
absl::StatusOr<JobsResult> RunJobs(const JobsRequest& request);

// Runs `jobs[job]` of the request as if it were the only one. Errors: those of
// RunJobs().
absl::StatusOr<JobsResult> RunAlone(const JobsRequest& request, size_t job);

// Runs the jobs as if none of them used storage. Errors: those of RunJobs().
absl::StatusOr<JobsResult> RunWithoutStorage(const JobsRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_JOBS_RUN_H_
