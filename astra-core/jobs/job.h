// A job of a run of several: what it does on the network that all share, on
// which part of the cluster, and what became of it.

#ifndef ASTRA_CORE_JOBS_JOB_H_
#define ASTRA_CORE_JOBS_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/jobs/storage_traffic.h"
#include "astra-core/jobs/storage_use.h"
#include "astra-core/run/explanation.h"
#include "network-frontends/network_backend.h"
#include "topology/cluster_part.h"
#include "workload/program.h"

namespace astra {

// Iterations of a workload, one after the other.
struct TrainingWork {
  Program program;
  // RunJobs() sets the lowering. Speeds change at times since the start of the
  // whole run, not of an iteration.
  SimulationOptions options;
  int64_t iterations = 1;  // At least 1.
  // Instead: go on until no job serves any more. The iteration that runs then
  // goes on to its end, and counts only if it is the first.
  bool until_served = false;
  StorageUse storage = {};  // Needs storage servers unless empty.
};

// A deployment that serves requests. Its owner simulates it, and must outlive
// the run.
struct ServingWork {
  // Begins to serve on `network`, whose nodes are those of the part of the job,
  // and whose clock begins now. Null: it has begun on a view of its own.
  std::function<absl::Status(std::unique_ptr<NetworkBackend> network)> begin;
  // Goes on until others have to go on first. Returns whether all requests have
  // ended, and nothing is under way.
  std::function<absl::StatusOr<bool>()> go_on;
  // Returns the share of the requests that have ended.
  std::function<double()> share_done;
};

struct Job {
  std::string name;
  std::variant<TrainingWork, ServingWork> work;
  ClusterPart part;  // Of the topology of the run.
  TimePs start = {};

  // Returns the iterations; null for a job that serves.
  TrainingWork* training() { return std::get_if<TrainingWork>(&work); }
  const TrainingWork* training() const {
    return std::get_if<TrainingWork>(&work);
  }
  bool uses_storage() const {
    return training() != nullptr && !training()->storage.empty();
  }
};

// When an iteration began and ended.
struct JobIteration {
  TimePs begin;
  TimePs end;
};

// Says what became of a job. A job that serves has no iterations, result and
// explanation: its owner has the latencies of its requests.
struct JobResult {
  TimePs start;  // When the job began, or began to wait for storage.
  TimePs end;    // When the last iteration, or the last request, ended.
  std::vector<JobIteration> iterations;
  // This is the result of the last iteration; its times are counted from the
  // begin of that iteration.
  SimulationResult result;
  std::optional<Explanation> explanation;
  // By link of the topology: the bytes of the messages of the whole job,
  // without headers.
  std::vector<double> link_bytes;
  std::vector<StorageTransfer> transfers;  // In the order of their begin.
  std::vector<double> storage_link_bytes;  // As link_bytes, of `transfers`.

  // Returns the time of an iteration with what it waits for storage, from
  // `start` to the end of the last. Requires an iteration.
  TimePs MeanIteration() const;
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_JOB_H_
