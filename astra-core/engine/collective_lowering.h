// Turns a collective of a group into messages.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_LOWERING_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_LOWERING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/collective_family.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/custom_collectives.h"
#include "astra-core/engine/message_costs.h"
#include "astra-core/engine/message_pace.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/reduction_tree.h"
#include "collectives/registry.h"
#include "topology/topology.h"
#include "workload/phase.h"

namespace astra {

// Algorithm and chunks of a collective.
struct CollectivePlan {
  CollectiveAlgorithm algorithm{};
  Chunking chunking;
  const CustomCollective* custom = nullptr;  // In place of both, unless null.
};

// The messages of a collective of one group, and their costs. What the pointers
// point at belongs to the Communicator or to the CollectiveLowering.
struct CollectiveMessages {
  // Names in results. `protocol` is "-" if the family has no protocols.
  std::string_view algorithm;
  std::string_view protocol = "-";
  std::shared_ptr<const FlowGraph> graph;  // Of Lower() only.
  std::shared_ptr<const GroupLayout> layout;
  const std::vector<NodeId>* nodes = nullptr;  // By member of `layout`.
  MessageCosts costs;
  CollectivePlan plan;
};

class CollectiveLowering {
 public:
  // `simai` is read only with CollectiveFamily::kSimai. NCCL's messages are
  // paced on networks from `pace_network`; without it they keep the costs of
  // the NCCL model. Collectives that `customs` fit are theirs. `topology` and
  // `customs` must outlive the object.
  CollectiveLowering(CollectiveFamily family, const NcclOptions& simai,
                     const MessageCosts& costs, const Topology& topology,
                     absl::Span<const CustomCollective> customs = {},
                     PaceNetwork pace_network = {})
      : family_(family),
        simai_(simai),
        costs_(costs),
        topology_(topology),
        customs_(customs),
        pace_network_(std::move(pace_network)) {}

  // Returns the messages of `what` over `group`, whose costs are `cost`. `id`
  // identifies `group`, which must outlive the object.
  //
  // Errors: Unimplemented if the family has no such collective, and the errors
  // of the algorithm. Each message names the collective.
  absl::StatusOr<CollectiveMessages> Lower(uint32_t id,
                                           const Communicator& group,
                                           const Communication& what,
                                           const CollectiveCost& cost);

  // Returns the same without the graph, which takes the time and memory of its
  // flows. The graph of messages that must be paced is built the first time, to
  // pace them.
  absl::StatusOr<CollectiveMessages> Outline(uint32_t id,
                                             const Communicator& group,
                                             const Communication& what,
                                             const CollectiveCost& cost);

  // Returns the graph of what Outline() returned for `what`.
  absl::StatusOr<std::shared_ptr<const FlowGraph>> GraphOf(
      const CollectiveMessages& messages, const Communication& what);

 private:
  struct Place {
    std::shared_ptr<const GroupLayout> layout;
    std::vector<NodeId> nodes;
  };
  // All that decides a graph: collectives with equal keys share one graph.
  using GraphKey =
      std::tuple<CollectiveKind, Bytes, const GroupLayout*, std::string_view,
                 Chunking, const CustomCollective*>;

  absl::StatusOr<CollectiveMessages> TryOutline(uint32_t id,
                                                const Communicator& group,
                                                const Communication& what,
                                                const CollectiveCost& cost);
  CollectiveMessages OutlineCustom(const Communicator& group,
                                   const CustomCollective& custom) const;
  absl::StatusOr<CollectivePlan> PlanOf(const Communicator& group,
                                        const Communication& what,
                                        const NcclMessages* nccl) const;
  // Returns `nccl`, scaled by Paced() on the group of `messages` the first time
  // that `nccl` is seen.
  absl::StatusOr<const NcclMessages*> PacedLike(
      const NcclMessages& nccl, const Communication& what,
      const CollectiveMessages& messages);
  // Returns the group with the switches of the fabric that reduce for it.
  absl::StatusOr<const Place*> WithReducers(uint32_t id,
                                            const Communicator& group,
                                            const CollectiveAlgorithm& of);

  CollectiveFamily family_;
  NcclOptions simai_;
  MessageCosts costs_;
  const Topology& topology_;
  absl::Span<const CustomCollective> customs_;
  PaceNetwork pace_network_;
  // Paced costs by the costs before pacing, which all groups of a class share.
  std::map<const NcclMessages*, NcclMessages> paced_;
  // Graphs are shared by groups of one layout and kept only while one of the
  // groups runs.
  std::map<GraphKey, std::weak_ptr<const FlowGraph>> graphs_;
  std::map<uint32_t, Place> with_reducers_;  // By group id.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_LOWERING_H_
