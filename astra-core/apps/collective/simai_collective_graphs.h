// Makes the messages of a collective on a cluster, and finds how long they take
// when each of them is run.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_GRAPHS_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/base/log.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/message_costs.h"
#include "astra-core/run/fidelity.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/registry.h"
#include "collectives/time_source.h"
#include "network-frontends/registry/registry.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

// Most flows of a graph. More would take hours to run and gigabytes to write.
constexpr uint64_t kMaxGraphFlows = 50'000'000;

// Algorithm that runs a collective: one of the registry, or a schedule.
struct ChosenAlgorithm {
  std::string name;
  CollectiveTimeSource source = CollectiveTimeSource::kModel;
  std::string protocol = "Simple";
  uint32_t channels = 0;  // 0: as many as its messages use.
  MessageCosts costs;
  // NCCL's choice, whose messages are to be paced; none for other algorithms.
  std::optional<NcclMessages> nccl;
  std::optional<CollectiveAlgorithm> registered;  // None: a schedule.
  Chunking chunking;
  std::function<absl::StatusOr<std::unique_ptr<const FlowGraph>>(
      const CollectiveRequest&)>
      lower;
};

// Returns the algorithm that --algorithm names, or the one in its file. An
// algorithm has the fewest channels that use every NIC. It cuts the buffer as
// NCCL does with the Simple protocol: chunks of 2 MiB, half of a FIFO, in two
// slices. Sends and receives are whole messages. Their costs are those of
// CostsOfSimple().
//
// Errors: those of FindCollectiveAlgorithm and of the readers of schedules.
//
// Source: NCCL 2.30, src/include/collectives.h (chunks and slices).
absl::StatusOr<ChosenAlgorithm> FindChosenAlgorithm(
    const SimaiCollectiveOptions& options, const CollectiveEstimator& cluster,
    Warnings* warnings);

// Returns what NCCL chooses for `bytes`, as it runs it: with its channels,
// chunks and costs; see NcclMessages.
//
// Errors: those of CollectiveTimes and FindCollectiveAlgorithm.
absl::StatusOr<ChosenAlgorithm> FindNcclRun(const CollectiveEstimator& cluster,
                                            const NcclOptions& nccl,
                                            CollectiveKind kind, Bytes bytes);

// Like FindNcclRun, with as many channels, in one loop. Sends and receives are
// whole messages.
//
// Errors: those of FindNcclRun.
absl::StatusOr<ChosenAlgorithm> FindNcclChoice(
    const CollectiveEstimator& cluster, const NcclOptions& nccl,
    CollectiveKind kind, Bytes bytes);

// Messages of one collective of a group.
struct LoweredCollective {
  CollectiveKind kind;
  Bytes bytes;
  std::shared_ptr<const GroupLayout> layout;
  std::vector<NodeId> nodes;  // Nodes by member of the layout.
  std::shared_ptr<const FlowGraph> graph;
};

// Returns the messages of `algorithm` on the group of `cluster`. In a send-recv
// by one of the registry each rank sends all its bytes to the next one, and the
// last to the first, as in nccl-tests. Errors: those
// of PlaceGroup, CollectiveRequest and the algorithm; ResourceExhausted for
// more than kMaxGraphFlows flows.
absl::StatusOr<LoweredCollective> LowerOn(const CollectiveEstimator& cluster,
                                          const ChosenAlgorithm& algorithm,
                                          CollectiveKind kind, Bytes bytes,
                                          uint32_t root);

// A network, and how it is to be simulated.
struct NetworkChoice {
  Fidelity fidelity;
  const NetworkOptions& options;
  uint32_t num_threads = 1;  // Of networks that have zones.
};

// Returns the time of a collective. Every message runs on the network, which
// carries nothing else. NCCL's choice is paced; see message_pace.h. A send-recv
// is paced as the pair of ranks that its closed form times. Where the
// collective cannot be simulated by several threads, it takes one and adds a
// warning with the reason, unless there is the same already.
//
// Errors: those of RunFlowGraph.
absl::StatusOr<CollectiveEstimate> TimeOnNetwork(
    const CollectiveEstimator& cluster, const ChosenAlgorithm& algorithm,
    const LoweredCollective& collective, const NetworkChoice& network,
    Routes& routes, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_GRAPHS_H_
