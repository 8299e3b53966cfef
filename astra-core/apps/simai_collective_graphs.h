// The messages of a collective on a cluster: which they are, and how long they
// take when each of them is run.

#ifndef ASTRA_CORE_APPS_SIMAI_COLLECTIVE_GRAPHS_H_
#define ASTRA_CORE_APPS_SIMAI_COLLECTIVE_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/simai_collective_options.h"
#include "astra-core/base/log.h"
#include "astra-core/base/units.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/registry.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

// More would take hours to run and gigabytes to write.
constexpr uint64_t kMaxGraphFlows = 50'000'000;

// What carries out a collective: an algorithm of the registry, or a schedule.
struct ChosenAlgorithm {
  std::string name;
  std::optional<CollectiveAlgorithm> registered;  // None: a schedule.
  Chunking chunking;
  std::function<absl::StatusOr<std::unique_ptr<const FlowGraph>>(
      const CollectiveRequest&)>
      lower;
};

// The algorithm of --algorithm, or the schedule of --schedule. Algorithms have
// as few channels as use every NIC and cut the buffer as NCCL does with the
// Simple protocol: chunks of 2 MiB, half of a FIFO, in two slices. Sends and
// receives are whole messages.
//
// Errors: those of FindCollectiveAlgorithm and of the readers of schedules.
//
// Source: NCCL 2.30, src/include/collectives.h (chunks and slices).
absl::StatusOr<ChosenAlgorithm> FindChosenAlgorithm(
    const SimaiCollectiveOptions& options, Warnings* warnings);

// What NCCL chooses for `bytes`, with as many channels, in one loop. Sends and
// receives are whole messages.
//
// Errors: those of CollectiveTimes and FindCollectiveAlgorithm.
absl::StatusOr<ChosenAlgorithm> FindNcclChoice(
    const CollectiveEstimator& cluster, const NcclOptions& nccl,
    CollectiveKind kind, Bytes bytes);

// The messages of one collective of the group of a cluster.
struct LoweredCollective {
  CollectiveRequest request;
  std::vector<NodeId> nodes;  // By member of the request's layout.
  std::shared_ptr<const FlowGraph> graph;
};

// Errors: those of PlaceGroup, CollectiveRequest and the algorithm;
// ResourceExhausted beyond kMaxGraphFlows.
absl::StatusOr<LoweredCollective> LowerOn(const CollectiveEstimator& cluster,
                                          const ChosenAlgorithm& algorithm,
                                          CollectiveKind kind, Bytes bytes,
                                          uint32_t root);

// Times of algorithms that are not NCCL's, by running every message on the
// analytical backend:
//
//   max(launch, base + run)
//
//   launch  the least time between two collectives, as of NCCL's
//   base    8.4 us, what NCCL reckons for a kernel of the Simple protocol
//   run     until the last message has arrived. A message costs what NCCL
//           reckons for a step of a ring with that protocol, within a server or
//           between two, and links yield the share of their rate that the
//           algorithm reaches: NCCL's algorithm of that name, or else its ring;
//           for those that NCCL makes of sends and receives, these.
//
// Source: NCCL 2.30, src/graph/tuning.cc (the latencies).
class FlowGraphTimes {
 public:
  // `cluster` must outlive the object; `algorithm` is the name.
  //
  // Errors: those of TopologyBuilder.
  static absl::StatusOr<std::unique_ptr<FlowGraphTimes>> Create(
      const CollectiveEstimator& cluster, CollectiveKind kind,
      const std::string& algorithm, bool cuda_graph);

  // Errors: those of RunFlowGraph.
  absl::StatusOr<CollectiveEstimate> Time(const LoweredCollective& collective);

 private:
  FlowGraphTimes(const CollectiveEstimator& cluster, std::string algorithm,
                 double launch_us, Topology topology);

  const CollectiveEstimator& cluster_;
  std::string algorithm_;
  double launch_us_;
  Topology topology_;  // With what messages cost.
  Routes routes_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_COLLECTIVE_GRAPHS_H_
