// A training job on the same network as a serving deployment: its iterations
// follow one another until all requests have ended.
//
//   BackgroundJob job{.program = program, .options = options,
//                     .place = *RangeOfCluster(topology, 16, 32)};
//   ASTRA_ASSIGN_OR_RETURN(JobTimes times, ServeBeside(job, fabric));
//
// The engine of the job owns the clock, and serving is a source of events on it
// (see serving_fabric.h). Collectives of the job are messages on the network,
// and every micro-batch of every rank is run, since no repetition sees the same
// network as another.

#ifndef ASTRA_CORE_SERVING_FABRIC_BACKGROUND_JOB_H_
#define ASTRA_CORE_SERVING_FABRIC_BACKGROUND_JOB_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "topology/cluster_part.h"
#include "workload/program.h"

namespace astra {

struct BackgroundJob {
  Program program;
  // ServeBeside() sets what a run under another clock needs: messages, all
  // micro-batches, and the end.
  SimulationOptions options;
  ClusterPart place;
};

struct JobTimes {
  // Times of the iterations that ended before the last request did; if none
  // did, of the first, which then ran partly alone.
  std::vector<TimePs> iterations;
  bool outlasted_serving = false;  // Whether the second case holds.
};

// Runs the job from time 0 until all requests have ended. Errors: those of
// Simulate() and of ServingFabric.
absl::StatusOr<JobTimes> ServeBeside(const BackgroundJob& job,
                                     ServingFabric& fabric);

// Returns the time of an iteration on the network of `idle`, which serves
// nothing. Errors: those of Simulate().
absl::StatusOr<TimePs> IterationAlone(const BackgroundJob& job,
                                      ServingFabric& idle);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_BACKGROUND_JOB_H_
