#include "astra-core/serving/fabric/step_pattern.h"

#include <map>
#include <memory>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/collective_request.h"
#include "collectives/group_layout.h"
#include "collectives/reduction_tree.h"
#include "collectives/registry.h"

namespace astra {
namespace {

// Returns the groups that send, whose ranks count from the first of the
// replica.
std::vector<std::vector<RankId>> SendingGroups(const TrafficKind& kind,
                                               int64_t gpus) {
  if (kind.kind != CollectiveKind::kSendRecv) {
    return RanksOfGroups(kind.group, gpus);
  }
  // Every rank sends to the next stage.
  std::vector<std::vector<RankId>> groups;
  for (int64_t rank = 0; rank + kind.group.stride < gpus; ++rank) {
    groups.push_back({RankId(static_cast<uint32_t>(rank)),
                      RankId(static_cast<uint32_t>(rank + kind.group.stride))});
  }
  return groups;
}

bool IsBetweenServers(const Topology& topology, NodeId source, NodeId target) {
  if (topology.kind(source) == NodeKind::kSwitch ||
      topology.kind(target) == NodeKind::kSwitch) {
    return true;
  }
  const uint32_t gpus = topology.num_gpus();
  if (source.index() >= gpus || target.index() >= gpus) return false;
  const uint32_t server = topology.gpus_per_server();
  return source.index() / server != target.index() / server;
}

using ShareByPair = std::map<std::pair<NodeId, NodeId>, double>;

absl::Status AddGroup(const CollectiveAlgorithm& algorithm,
                      const std::vector<RankId>& ranks,
                      const Topology& topology, ShareByPair& shares) {
  // A large size, so that bytes that do not divide evenly have no weight.
  constexpr Bytes kBytes(int64_t{1} << 38);
  ASTRA_ASSIGN_OR_RETURN(PlacedGroup group,
                         PlaceGroup(algorithm, ranks, topology));
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveRequest request,
      CollectiveRequest::Create(
          algorithm.kind, kBytes,
          std::make_shared<const GroupLayout>(std::move(group.layout))));
  ASTRA_ASSIGN_OR_RETURN(const StepSchedule schedule, algorithm.steps(request));
  for (const ScheduleStep& step : schedule.steps) {
    for (const StepFlow& flow : step.flows) {
      const NodeId source = group.nodes[flow.source.index()];
      const NodeId target = group.nodes[flow.target.index()];
      if (flow.share <= 0 || !IsBetweenServers(topology, source, target)) {
        continue;
      }
      shares[{source, target}] += static_cast<double>(step.repeat) * flow.share;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PairShare>> PairsOf(const StagePattern& pattern,
                                               const PoolPlace& place,
                                               uint32_t replica,
                                               const Topology& topology) {
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveAlgorithm algorithm,
      FindCollectiveAlgorithm(pattern.kind.kind, pattern.kind.algorithm));
  const int64_t first = place.first_gpu + replica * place.gpus_per_replica;
  const int64_t of_stage = place.tensor * place.attention_ranks;
  ShareByPair shares;
  for (std::vector<RankId>& ranks :
       SendingGroups(pattern.kind, place.gpus_per_replica)) {
    if (ranks.front().index() / of_stage != pattern.stage) continue;
    for (RankId& rank : ranks) {
      rank = RankId(rank.index() + static_cast<uint32_t>(first));
    }
    ASTRA_RETURN_IF_ERROR(AddGroup(algorithm, ranks, topology, shares));
  }
  std::vector<PairShare> pairs;
  for (const auto& [pair, share] : shares) {
    pairs.push_back({pair.first, pair.second, share});
  }
  return pairs;
}

}  // namespace astra
