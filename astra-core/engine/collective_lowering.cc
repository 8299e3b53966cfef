#include "astra-core/engine/collective_lowering.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
absl::StatusOr<CollectiveMessages> CollectiveLowering::Lower(
    uint32_t id, const Communicator& group, const Communication& what,
    const CollectiveCost& cost) {
  absl::StatusOr<CollectiveMessages> messages = TryLower(id, group, what, cost);
  if (messages.ok()) return messages;
  return absl::Status(
      messages.status().code(),
      fmt::format("the {} of {} over {}, {} ranks from rank {}: {}",
                  Name(what.kind), what.bytes, Name(what.dimension),
                  group.ranks.size(), group.ranks.front(),
                  std::string(messages.status().message())));
}

absl::StatusOr<CollectiveMessages> CollectiveLowering::TryLower(
    uint32_t id, const Communicator& group, const Communication& what,
    const CollectiveCost& cost) {
  const NcclMessages* nccl = nullptr;
  if (family_ == CollectiveFamily::kNccl) {
    nccl = &cost.messages.at(what.bytes)[cost.class_of_group[group.group]];
  }
  ASTRA_ASSIGN_OR_RETURN(const Plan plan, PlanOf(group, what, nccl));
  CollectiveMessages messages;
  messages.algorithm = plan.algorithm.name;
  messages.costs = costs_;
  if (nccl != nullptr) {
    const TimedCollective timed = cost.Time(group.group, what.bytes);
    messages.algorithm = timed.algorithm;
    messages.protocol = timed.protocol;
  }
  std::shared_ptr<const GroupLayout> layout = group.layout;
  messages.nodes = &group.nodes;
  if (plan.algorithm.needs_reducers) {
    ASTRA_ASSIGN_OR_RETURN(const Place* place,
                           WithReducers(id, group, plan.algorithm));
    layout = place->layout;
    messages.nodes = &place->nodes;
  }
  ASTRA_ASSIGN_OR_RETURN(messages.graph, GraphOf(plan, what, layout));
  messages.layout = layout.get();
  if (nccl != nullptr) {
    ASTRA_ASSIGN_OR_RETURN(const NcclMessages* paced,
                           PacedLike(*nccl, messages));
    messages.costs = CostsOf(*paced, costs_);
  }
  return messages;
}

absl::StatusOr<const NcclMessages*> CollectiveLowering::PacedLike(
    const NcclMessages& nccl, const CollectiveMessages& messages) {
  if (!pace_network_) return &nccl;
  const auto known = paced_.find(&nccl);
  if (known != paced_.end()) return &known->second;
  const PlacedFlowGraph placed = {
      messages.graph, *messages.nodes, {}, messages.layout};
  ASTRA_ASSIGN_OR_RETURN(const NcclMessages paced,
                         Paced(nccl, placed, pace_network_));
  return &paced_.emplace(&nccl, paced).first->second;
}

absl::StatusOr<CollectiveLowering::Plan> CollectiveLowering::PlanOf(
    const Communicator& group, const Communication& what,
    const NcclMessages* nccl) const {
  if (nccl != nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        const CollectiveAlgorithm algorithm,
        FindCollectiveAlgorithm(what.kind, nccl->registry_name));
    return Plan{algorithm, nccl->chunking};
  }
  if (family_ == CollectiveFamily::kRing) {
    return Plan{DefaultCollectiveAlgorithm(what.kind), {}};
  }
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveAlgorithm algorithm,
      SimaiAlgorithm(what.kind, what.dimension, *group.layout, simai_));
  return Plan{algorithm, {}};
}

absl::StatusOr<std::shared_ptr<const FlowGraph>> CollectiveLowering::GraphOf(
    const Plan& plan, const Communication& what,
    const std::shared_ptr<const GroupLayout>& layout) {
  const GraphKey key = {what.kind, what.bytes, layout.get(),
                        plan.algorithm.name, plan.chunking};
  std::weak_ptr<const FlowGraph>& kept = graphs_[key];
  if (std::shared_ptr<const FlowGraph> graph = kept.lock()) return graph;
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveRequest request,
      CollectiveRequest::Create(what.kind, what.bytes, layout));
  ASTRA_ASSIGN_OR_RETURN(request, request.With(plan.chunking));
  ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                         plan.algorithm.lower(request));
  kept = graph;
  return graph;
}

absl::StatusOr<const CollectiveLowering::Place*>
CollectiveLowering::WithReducers(uint32_t id, const Communicator& group,
                                 const CollectiveAlgorithm& of) {
  const auto found = with_reducers_.find(id);
  if (found != with_reducers_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(PlacedGroup placed,
                         PlaceGroup(of, group.ranks, topology_));
  Place place = {std::make_shared<const GroupLayout>(std::move(placed.layout)),
                 std::move(placed.nodes)};
  return &with_reducers_.emplace(id, std::move(place)).first->second;
}

}  // namespace astra
