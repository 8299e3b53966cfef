// From a collective of a group to its messages.

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
#include "astra-core/engine/collective_family.h"
#include "astra-core/engine/communicators.h"
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

// A collective of one group, as it is run. What is pointed at belongs to the
// group or to the object that lowers collectives.
struct CollectiveMessages {
  // As results name them; "-" where the family has no protocols.
  std::string_view algorithm;
  std::string_view protocol = "-";
  std::shared_ptr<const FlowGraph> graph;
  const GroupLayout* layout = nullptr;
  const std::vector<NodeId>* nodes = nullptr;  // By member of the layout.
  MessageCosts costs;
};

class CollectiveLowering {
 public:
  // `simai` is read by that family only. `pace_network` is for NCCL's messages;
  // without it they cost what NCCL's parts say. `topology` must outlive the
  // object.
  CollectiveLowering(CollectiveFamily family, const NcclOptions& simai,
                     const MessageCosts& costs, const Topology& topology,
                     PaceNetwork pace_network = nullptr)
      : family_(family),
        simai_(simai),
        costs_(costs),
        topology_(topology),
        pace_network_(std::move(pace_network)) {}

  // The messages of `what`, of a group whose costs are `cost`. `id` is that of
  // `group`, which must outlive the object.
  //
  // Errors: Unimplemented if the family has no such collective; those of the
  // algorithm; they name the collective.
  absl::StatusOr<CollectiveMessages> Lower(uint32_t id,
                                           const Communicator& group,
                                           const Communication& what,
                                           const CollectiveCost& cost);

 private:
  // How a collective is made into a graph, whoever runs it.
  struct Plan {
    CollectiveAlgorithm algorithm;
    Chunking chunking;
  };
  struct Place {
    std::shared_ptr<const GroupLayout> layout;
    std::vector<NodeId> nodes;
  };
  // Graphs are alike if all of this is: it decides them.
  using GraphKey = std::tuple<CollectiveKind, Bytes, const GroupLayout*,
                              std::string_view, Chunking>;

  absl::StatusOr<CollectiveMessages> TryLower(uint32_t id,
                                              const Communicator& group,
                                              const Communication& what,
                                              const CollectiveCost& cost);
  absl::StatusOr<Plan> PlanOf(const Communicator& group,
                              const Communication& what,
                              const NcclMessages* nccl) const;
  absl::StatusOr<std::shared_ptr<const FlowGraph>> GraphOf(
      const Plan& plan, const Communication& what,
      const std::shared_ptr<const GroupLayout>& layout);
  // `nccl` at its pace for groups like that of `messages`.
  absl::StatusOr<const NcclMessages*> PacedLike(
      const NcclMessages& nccl, const CollectiveMessages& messages);
  // The group with the reducers of the fabric.
  absl::StatusOr<const Place*> WithReducers(uint32_t id,
                                            const Communicator& group,
                                            const CollectiveAlgorithm& of);

  CollectiveFamily family_;
  NcclOptions simai_;
  MessageCosts costs_;
  const Topology& topology_;
  PaceNetwork pace_network_;
  // By the parts that were paced: they are those of a class of groups.
  std::map<const NcclMessages*, NcclMessages> paced_;
  // Shared by groups of one layout, and kept only while one of them runs.
  std::map<GraphKey, std::weak_ptr<const FlowGraph>> graphs_;
  std::map<uint32_t, Place> with_reducers_;  // By group.
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_LOWERING_H_
