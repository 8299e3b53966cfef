#include "astra-core/traces/trace_link_bytes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "astra-core/engine/link_bytes.h"
#include "astra-core/traces/trace_communicators.h"

namespace astra {
namespace {

// Sums up what each group and each pair of ranks sends. Each is a block.
class VolumeCounter {
 public:
  VolumeCounter(const ExecutionTrace& trace,
                const std::vector<std::vector<RankId>>& pairs,
                const CollectiveCosts& costs)
      : trace_(trace), costs_(costs) {
    for (uint32_t i = 0; i < pairs.size(); ++i) {
      number_of_pair_[{pairs[i].front(), pairs[i].back()}] = i;
    }
  }

  LinkVolumes Count() {
    for (uint32_t r = 0; r < trace_.ranks.size(); ++r) {
      for (const TraceNode& node : trace_.ranks[r].nodes) {
        Add(RankId(r), node);
      }
    }
    return std::move(volumes_);
  }

 private:
  // Counts a collective at the first rank of its group, and a message at its
  // sender.
  void Add(RankId rank, const TraceNode& node) {
    if (node.kind == TraceNodeKind::kSend) {
      Add({ParallelDimension::kPipeline, CollectiveKind::kSendRecv},
          number_of_pair_.at({rank, node.peer}), node.bytes);
    } else if (node.kind == TraceNodeKind::kCollective) {
      const ProcessGroup& group = trace_.groups[node.group.index()];
      if (group.ranks.front() != rank) return;
      Add({group.counted_dimension(), node.collective}, node.group.index(),
          node.bytes);
    }
  }

  void Add(const CostKey& key, uint32_t block, Bytes bytes) {
    const TimedCollective timed = costs_.at(key).Time(block, bytes);
    LinkVolume& volume = volumes_[{key, timed.registry_name}];
    volume.bytes = bytes;
    volume.of_block[block] += static_cast<double>(bytes.count());
  }

  const ExecutionTrace& trace_;
  const CollectiveCosts& costs_;
  std::map<std::pair<RankId, RankId>, uint32_t> number_of_pair_;
  LinkVolumes volumes_;
};

}  // namespace

absl::StatusOr<std::vector<double>> TraceLinkBytes(
    const ExecutionTrace& trace, const TraceLanes& lanes,
    const CollectiveCosts& costs, const std::optional<NcclSystem>& nccl,
    Routes& routes) {
  const std::vector<std::vector<RankId>> pairs = PairsOf(lanes);
  LinkBlocks blocks;
  blocks.count = [&](const CostKey& key) {
    if (key.first == ParallelDimension::kPipeline) return pairs.size();
    size_t count = 0;
    for (const uint32_t family : lanes.uses.at(key).families) {
      count += lanes.families[family].size();
    }
    return count;
  };
  blocks.append = [&](const CostKey& key, uint32_t block,
                      std::vector<std::vector<RankId>>* groups) {
    groups->push_back(key.first == ParallelDimension::kPipeline
                          ? pairs[block]
                          : trace.groups[block].ranks);
  };
  return LayVolumes(VolumeCounter(trace, pairs, costs).Count(), blocks, costs,
                    nccl, routes);
}

}  // namespace astra
