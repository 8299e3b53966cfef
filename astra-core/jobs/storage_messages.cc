#include "astra-core/jobs/storage_messages.h"

#include <cstdint>

#include "astra-core/base/check.h"
#include "astra-core/base/parallel_dimension.h"

namespace astra {
namespace {

bool Takes(StorageRanks ranks, RankId rank, const ParallelPlan& plan) {
  constexpr ParallelDimension kReplicas = ParallelDimension::kDataExpert;
  switch (ranks) {
    case StorageRanks::kAll:
      return true;
    case StorageRanks::kFirstReplica:
      return plan.Ranks(kReplicas, plan.GroupOf(kReplicas, rank)).front() ==
             rank;
    case StorageRanks::kFirstStage:
      return plan.StageOf(rank) == 0;
  }
  ASTRA_CHECK(false, "ranks {}", static_cast<int>(ranks));
}

}  // namespace

std::vector<StorageMessage> StorageMessagesOf(const StorageAmount& amount,
                                              const ParallelPlan& plan,
                                              const Topology& topology) {
  std::vector<NodeId> nodes;  // By part.
  for (uint32_t i = 0; i < plan.num_ranks(); ++i) {
    if (!Takes(amount.ranks, RankId(i), plan)) continue;
    nodes.insert(nodes.end(), amount.stripes, Topology::NodeOf(RankId(i)));
  }
  const auto num_parts = static_cast<int64_t>(nodes.size());
  const int64_t least = amount.bytes.count() / num_parts;
  const int64_t num_larger = amount.bytes.count() % num_parts;
  std::vector<StorageMessage> messages;
  for (int64_t part = 0; part < num_parts; ++part) {
    const int64_t bytes = least + (part < num_larger ? 1 : 0);
    if (bytes == 0) break;
    const auto server =
        static_cast<uint32_t>(part % int64_t{topology.num_storage()});
    messages.push_back({.rank = nodes[static_cast<size_t>(part)],
                        .storage = NodeId(topology.first_storage() + server),
                        .bytes = Bytes(bytes)});
  }
  return messages;
}

}  // namespace astra
