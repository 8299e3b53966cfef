#include "astra-core/traces/trace_communicators.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/shared_layouts.h"
#include "collectives/group_layout.h"

namespace astra {
namespace {

void Add(Communicator made, const Topology& topology, SharedLayouts& layouts,
         Communicators& all) {
  const CommunicatorId id(static_cast<uint32_t>(all.list.size()));
  for (const uint32_t member : made.members) {
    all.of_class[member][made.LaneOfMember(member).index()] = id;
  }
  made.layout = layouts.Share(GroupLayout::Of(made.ranks, topology));
  made.nodes = MemberNodes(made.ranks, *made.layout, topology);
  all.list.push_back(std::move(made));
}

}  // namespace

std::vector<std::vector<RankId>> PairsOf(const TraceLanes& lanes) {
  std::set<std::vector<RankId>> pairs;
  for (const TraceChannel& channel : lanes.channels) {
    pairs.insert({channel.sender, channel.receiver});
  }
  std::vector<std::vector<RankId>> sorted(pairs.begin(), pairs.end());
  std::stable_partition(
      sorted.begin(), sorted.end(),
      [](const std::vector<RankId>& pair) { return pair[0] < pair[1]; });
  return sorted;
}

absl::StatusOr<CollectiveCosts> FindTraceCosts(const ExecutionTrace& trace,
                                               const TraceLanes& lanes,
                                               const CostSetting& setting,
                                               Routes& routes) {
  std::vector<std::vector<RankId>> groups;
  for (const ProcessGroup& group : trace.groups) groups.push_back(group.ranks);
  const std::vector<std::vector<RankId>> pairs = PairsOf(lanes);
  CollectiveCosts costs;
  for (const auto& [key, use] : lanes.uses) {
    if (key.second == CollectiveKind::kSendRecv) {
      ASTRA_ASSIGN_OR_RETURN(
          costs[key],
          CostOfWaves(key, use.sizes, pairs, WavesOf(pairs), setting, routes));
      continue;
    }
    std::vector<std::vector<uint32_t>> waves;
    for (const uint32_t family : use.families) {
      std::vector<uint32_t>& wave = waves.emplace_back();
      for (const ProcessGroupId id : lanes.families[family]) {
        wave.push_back(id.index());
      }
    }
    ASTRA_ASSIGN_OR_RETURN(costs[key], CostOfWaves(key, use.sizes, groups,
                                                   waves, setting, routes));
  }
  return costs;
}

Communicators FormTraceCommunicators(const ExecutionTrace& trace,
                                     const TraceLanes& lanes,
                                     const Topology& topology) {
  Communicators all;
  const auto num_ranks = static_cast<uint32_t>(trace.ranks.size());
  for (uint32_t r = 0; r < num_ranks; ++r) {
    all.classes.class_of_rank.push_back(r);
    all.classes.lowest_rank.emplace_back(r);
    all.classes.stage.push_back(r);
  }
  all.num_lanes = lanes.num_lanes;
  all.num_slowing_lanes = static_cast<uint32_t>(lanes.families.size());
  all.of_class.assign(
      num_ranks, std::vector<std::optional<CommunicatorId>>(lanes.num_lanes));
  SharedLayouts layouts;
  for (uint32_t g = 0; g < trace.groups.size(); ++g) {
    const uint32_t family = lanes.family_of_group[g];
    if (family == lanes.families.size()) continue;
    const ProcessGroup& group = trace.groups[g];
    Communicator made;
    made.dimension = group.counted_dimension();
    made.group = g;
    made.ranks = group.ranks;
    for (const RankId rank : group.ranks) made.members.push_back(rank.index());
    made.lanes.assign(group.ranks.size(), LaneId(family));
    Add(std::move(made), topology, layouts, all);
  }
  const std::vector<std::vector<RankId>> pairs = PairsOf(lanes);
  for (const TraceChannel& channel : lanes.channels) {
    const std::vector<RankId> pair = {channel.sender, channel.receiver};
    Communicator made;
    made.dimension = ParallelDimension::kPipeline;
    made.group = static_cast<uint32_t>(
        std::find(pairs.begin(), pairs.end(), pair) - pairs.begin());
    made.ranks = pair;
    made.members = {channel.sender.index(), channel.receiver.index()};
    made.lanes = {channel.send_lane, channel.receive_lane};
    Add(std::move(made), topology, layouts, all);
  }
  return all;
}

}  // namespace astra
