#include "astra-core/traces/trace_lanes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace astra {
namespace {

// Puts each group that has collectives into the first family that it fits.
class FamilyFinder {
 public:
  explicit FamilyFinder(const ExecutionTrace& trace) : trace_(trace) {}

  void Add(ProcessGroupId id, TraceLanes& lanes) {
    const ProcessGroup& group = trace_.groups[id.index()];
    const Kind kind = {group.dimension, group.ranks.size()};
    size_t family = 0;
    while (family < kinds_.size() &&
           (kinds_[family] != kind || Meets(group, family))) {
      ++family;
    }
    if (family == kinds_.size()) {
      kinds_.push_back(kind);
      has_rank_.emplace_back(trace_.ranks.size());
      lanes.families.emplace_back();
    }
    for (const RankId rank : group.ranks) {
      has_rank_[family][rank.index()] = true;
    }
    lanes.families[family].push_back(id);
    lanes.family_of_group[id.index()] = static_cast<uint32_t>(family);
  }

 private:
  using Kind = std::pair<std::optional<ParallelDimension>, size_t>;

  bool Meets(const ProcessGroup& group, size_t family) const {
    return std::any_of(
        group.ranks.begin(), group.ranks.end(),
        [&](RankId rank) { return has_rank_[family][rank.index()]; });
  }

  const ExecutionTrace& trace_;
  std::vector<Kind> kinds_;                  // By family.
  std::vector<std::vector<bool>> has_rank_;  // By family.
};

// Adds what a node asks of the network, if it does.
void AddUse(const ExecutionTrace& trace, const TraceNode& node,
            TraceLanes& lanes) {
  if (node.kind == TraceNodeKind::kSend) {
    lanes.uses[{ParallelDimension::kPipeline, CollectiveKind::kSendRecv}]
        .sizes.insert(node.bytes);
  } else if (node.kind == TraceNodeKind::kCollective) {
    const ProcessGroup& group = trace.groups[node.group.index()];
    TraceUse& use = lanes.uses[{group.counted_dimension(), node.collective}];
    use.sizes.insert(node.bytes);
    use.families.insert(lanes.family_of_group[node.group.index()]);
  }
}

}  // namespace

CollectiveSizes TraceLanes::used() const {
  CollectiveSizes used;
  for (const auto& [key, use] : uses) used[key] = use.sizes;
  return used;
}

TraceLanes LanesOf(const ExecutionTrace& trace) {
  TraceLanes lanes;
  std::vector<bool> is_used(trace.groups.size());
  std::map<std::tuple<RankId, RankId, int64_t>, TraceChannel> channels;
  for (uint32_t r = 0; r < trace.ranks.size(); ++r) {
    for (const TraceNode& node : trace.ranks[r].nodes) {
      if (node.kind == TraceNodeKind::kCollective) {
        is_used[node.group.index()] = true;
      } else if (node.kind == TraceNodeKind::kSend) {
        channels[{RankId(r), node.peer, node.tag}] = {
            RankId(r), node.peer, node.tag, LaneId(), LaneId()};
      }
    }
  }
  lanes.family_of_group.resize(trace.groups.size());
  FamilyFinder finder(trace);
  for (uint32_t g = 0; g < trace.groups.size(); ++g) {
    if (is_used[g]) finder.Add(ProcessGroupId(g), lanes);
  }
  const auto num_families = static_cast<uint32_t>(lanes.families.size());
  for (size_t g = 0; g < trace.groups.size(); ++g) {
    if (!is_used[g]) lanes.family_of_group[g] = num_families;
  }
  std::vector<uint32_t> next_lane(trace.ranks.size(), num_families);
  for (auto& [key, channel] : channels) {
    channel.send_lane = LaneId(next_lane[channel.sender.index()]++);
    channel.receive_lane = LaneId(next_lane[channel.receiver.index()]++);
    lanes.channels.push_back(channel);
  }
  const auto most = std::max_element(next_lane.begin(), next_lane.end());
  lanes.num_lanes = (most == next_lane.end() ? num_families : *most) + 2;
  for (const RankTrace& rank : trace.ranks) {
    for (const TraceNode& node : rank.nodes) AddUse(trace, node, lanes);
  }
  return lanes;
}

}  // namespace astra
