#include "astra-core/engine/symmetric_times.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/closed_form.h"
#include "collectives/registry.h"

namespace astra {

absl::StatusOr<TimePs> SymmetricTimes::TimeOf(CommunicatorId communicator,
                                              const Communication& what) {
  const Key key = KeyOf(communicators_.list[communicator.index()], what);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  ASTRA_ASSIGN_OR_RETURN(const TimePs time, Simulate(communicator, what));
  known_.emplace(key, time);
  return time;
}

SymmetricTimes::Key SymmetricTimes::KeyOf(const Communicator& group,
                                          const Communication& what) const {
  const CollectiveCost& cost = costs_.at({what.dimension, what.kind});
  const uint32_t cost_class =
      cost.sized.empty() ? 0 : cost.class_of_group[group.group];
  return {what.dimension,
          what.kind,
          what.bytes,
          group.layout.get(),
          cost.forms.groups[group.group].form,
          cost_class};
}

absl::StatusOr<TimePs> SymmetricTimes::Simulate(CommunicatorId id,
                                                const Communication& what) {
  const Communicator& group = communicators_.list[id.index()];
  ASTRA_ASSIGN_OR_RETURN(const bool is_alone, IsAlone(group, what));
  const std::vector<Communicator> groups =
      is_alone ? std::vector<Communicator>{group} : AllLike(group);
  // Ids above those of the communicators, which lowering_ already knows.
  auto next_id = static_cast<uint32_t>(communicators_.list.size());
  std::vector<CollectiveMessages> messages;
  for (const Communicator& each : groups) {
    const uint32_t number = is_alone ? id.index() : next_id + each.group;
    ASTRA_ASSIGN_OR_RETURN(
        messages.emplace_back(),
        lowering_.Lower(number, each, what,
                        costs_.at({what.dimension, what.kind})));
  }
  std::vector<PlacedFlowGraph> placed;
  placed.reserve(messages.size());
  for (const CollectiveMessages& each : messages) {
    placed.push_back({each.graph, *each.nodes, each.costs, each.layout.get()});
  }
  const std::unique_ptr<NetworkBackend> network = new_network_();
  return RunFlowGraphs(placed, *network);
}

// Returns whether the closed form gives `group` the same time without the other
// groups.
absl::StatusOr<bool> SymmetricTimes::IsAlone(const Communicator& group,
                                             const Communication& what) {
  const std::vector<RankId> groups[] = {group.ranks};
  const CollectiveCost& cost = costs_.at({what.dimension, what.kind});
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms alone,
                         LayOnLinks(cost.algorithm, groups, routes_));
  return alone.groups.front().form == cost.forms.groups[group.group].form;
}

// Returns the groups of the same dimension and stage as `group`. For messages,
// they are the pairs between the same two stages.
std::vector<Communicator> SymmetricTimes::AllLike(
    const Communicator& group) const {
  const bool is_message = group.dimension == ParallelDimension::kPipeline;
  const uint32_t num_groups =
      is_message ? plan_.stage_size()
                 : plan_.NumGroups(group.dimension) / wiring_.num_stages;
  const uint32_t first = group.group / num_groups * num_groups;
  std::vector<Communicator> groups;
  for (uint32_t g = first; g < first + num_groups; ++g) {
    Communicator each = group;
    each.group = g;
    each.ranks =
        is_message ? wiring_.pairs.pairs[g] : plan_.Ranks(group.dimension, g);
    const Topology& topology = routes_.topology();
    each.layout = std::make_shared<const GroupLayout>(
        GroupLayout::Of(each.ranks, topology));
    each.nodes = MemberNodes(each.ranks, *each.layout, topology);
    groups.push_back(std::move(each));
  }
  return groups;
}

}  // namespace astra
