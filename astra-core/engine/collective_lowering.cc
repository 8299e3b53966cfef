#include "astra-core/engine/collective_lowering.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/simai_executor.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<CollectiveMessages> CollectiveLowering::Lower(
    uint32_t id, const Communicator& group, const Communication& what,
    const CollectiveCost& cost) {
  ASTRA_ASSIGN_OR_RETURN(CollectiveMessages messages,
                         Outline(id, group, what, cost));
  ASTRA_ASSIGN_OR_RETURN(messages.graph, GraphOf(messages, what));
  return messages;
}

absl::StatusOr<CollectiveMessages> CollectiveLowering::Outline(
    uint32_t id, const Communicator& group, const Communication& what,
    const CollectiveCost& cost) {
  absl::StatusOr<CollectiveMessages> messages =
      TryOutline(id, group, what, cost);
  if (messages.ok()) return messages;
  return absl::Status(
      messages.status().code(),
      fmt::format("the {} of {} over {}, {} ranks from rank {}: {}",
                  Name(what.kind), what.bytes, Name(what.dimension),
                  group.ranks.size(), group.ranks.front(),
                  std::string(messages.status().message())));
}

absl::StatusOr<CollectiveMessages> CollectiveLowering::TryOutline(
    uint32_t id, const Communicator& group, const Communication& what,
    const CollectiveCost& cost) {
  const CustomCollective* custom =
      FindCustom(customs_, what.kind, group.ranks.size(), what.bytes);
  if (custom != nullptr) return OutlineCustom(group, *custom);
  const NcclMessages* nccl = nullptr;
  if (family_ == CollectiveFamily::kNccl) {
    nccl = &cost.messages.at(what.bytes)[cost.class_of_group[group.group]];
  }
  CollectiveMessages messages;
  ASTRA_ASSIGN_OR_RETURN(messages.plan, PlanOf(group, what, nccl));
  messages.algorithm = messages.plan.algorithm.name;
  messages.costs = costs_;
  messages.layout = group.layout;
  messages.nodes = &group.nodes;
  if (messages.plan.algorithm.needs_reducers) {
    ASTRA_ASSIGN_OR_RETURN(const Place* place,
                           WithReducers(id, group, messages.plan.algorithm));
    messages.layout = place->layout;
    messages.nodes = &place->nodes;
  }
  if (family_ == CollectiveFamily::kSimai) {
    messages.costs =
        SimaiExecutorCosts(messages.algorithm, what.kind, what.dimension,
                           *messages.layout, topology_, costs_);
  }
  if (nccl == nullptr) return messages;
  const TimedCollective timed = cost.Time(group.group, what.bytes);
  messages.algorithm = timed.algorithm;
  messages.protocol = timed.protocol;
  ASTRA_ASSIGN_OR_RETURN(const NcclMessages* paced,
                         PacedLike(*nccl, what, messages));
  messages.costs = CostsOf(*paced, costs_);
  return messages;
}

CollectiveMessages CollectiveLowering::OutlineCustom(
    const Communicator& group, const CustomCollective& custom) const {
  CollectiveMessages messages;
  messages.plan.custom = &custom;
  messages.algorithm = custom.schedule.name();
  messages.layout = group.layout;
  messages.nodes = &group.nodes;
  messages.costs = group.layout->num_servers() == 1 ? custom.one_server
                                                    : custom.several_servers;
  messages.costs.per_message += costs_.per_message;
  return messages;
}

absl::StatusOr<const NcclMessages*> CollectiveLowering::PacedLike(
    const NcclMessages& nccl, const Communication& what,
    const CollectiveMessages& messages) {
  if (!pace_network_.make) return &nccl;
  const auto known = paced_.find(&nccl);
  if (known != paced_.end()) return &known->second;
  ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                         GraphOf(messages, what));
  const PlacedFlowGraph placed = {
      std::move(graph), *messages.nodes, {}, messages.layout.get()};
  ASTRA_ASSIGN_OR_RETURN(const NcclMessages paced,
                         Paced(nccl, placed, pace_network_));
  return &paced_.emplace(&nccl, paced).first->second;
}

absl::StatusOr<CollectivePlan> CollectiveLowering::PlanOf(
    const Communicator& group, const Communication& what,
    const NcclMessages* nccl) const {
  if (nccl != nullptr) {
    ASTRA_ASSIGN_OR_RETURN(
        const CollectiveAlgorithm algorithm,
        FindCollectiveAlgorithm(what.kind, nccl->registry_name));
    return CollectivePlan{.algorithm = algorithm, .chunking = nccl->chunking};
  }
  if (family_ == CollectiveFamily::kRing) {
    return CollectivePlan{.algorithm = DefaultCollectiveAlgorithm(what.kind),
                          .chunking = {}};
  }
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveAlgorithm algorithm,
      SimaiAlgorithm(what.kind, what.dimension, *group.layout, simai_));
  return CollectivePlan{.algorithm = algorithm, .chunking = {}};
}

absl::StatusOr<std::shared_ptr<const FlowGraph>> CollectiveLowering::GraphOf(
    const CollectiveMessages& messages, const Communication& what) {
  const auto& [algorithm, chunking, custom] = messages.plan;
  const GraphKey key = {what.kind,      what.bytes, messages.layout.get(),
                        algorithm.name, chunking,   custom};
  std::weak_ptr<const FlowGraph>& kept = graphs_[key];
  if (std::shared_ptr<const FlowGraph> graph = kept.lock()) return graph;
  const CollectiveKind kind =
      custom == nullptr ? what.kind : custom->schedule.collective().kind;
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveRequest request,
      CollectiveRequest::Create(kind, what.bytes, messages.layout));
  ASTRA_ASSIGN_OR_RETURN(request, request.With(chunking));
  ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                         custom == nullptr ? algorithm.lower(request)
                                           : custom->schedule.Lower(request));
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
