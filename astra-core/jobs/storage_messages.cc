#include "astra-core/jobs/storage_messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/base/parallel_dimension.h"

namespace astra {
namespace {

// Returns the ranks that move the amount together, in their order: one list, or
// one for each replica.
std::vector<std::vector<RankId>> MoversOf(StorageRanks ranks,
                                          const ParallelPlan& plan) {
  constexpr ParallelDimension kReplicas = ParallelDimension::kDataExpert;
  std::vector<std::vector<RankId>> movers(1);
  if (ranks == StorageRanks::kEveryReplica) {
    movers.resize(
        plan.Ranks(kReplicas, plan.GroupOf(kReplicas, RankId(0))).size());
  }
  for (uint32_t i = 0; i < plan.num_ranks(); ++i) {
    const RankId rank(i);
    size_t list = 0;
    if (ranks == StorageRanks::kFirstStage) {
      list = plan.StageOf(rank);
    } else if (ranks != StorageRanks::kAll) {
      const std::vector<RankId> replicas =
          plan.Ranks(kReplicas, plan.GroupOf(kReplicas, rank));
      list = static_cast<size_t>(
          std::find(replicas.begin(), replicas.end(), rank) - replicas.begin());
    }
    if (list < movers.size()) movers[list].push_back(rank);
  }
  return movers;
}

// Appends the messages of `amount`, which `ranks` move. Parts take the servers
// in turn, from that of part `*part` on.
void AppendMessages(const StorageAmount& amount, absl::Span<const RankId> ranks,
                    const Topology& topology, int64_t* part,
                    std::vector<StorageMessage>* messages) {
  const auto num_parts =
      static_cast<int64_t>(ranks.size()) * int64_t{amount.stripes};
  const int64_t least = amount.bytes.count() / num_parts;
  const int64_t num_larger = amount.bytes.count() % num_parts;
  for (int64_t i = 0; i < num_parts; ++i, ++*part) {
    const int64_t bytes = least + (i < num_larger ? 1 : 0);
    if (bytes == 0) continue;
    const auto server =
        static_cast<uint32_t>(*part % int64_t{topology.num_storage()});
    const RankId rank = ranks[static_cast<size_t>(i / int64_t{amount.stripes})];
    messages->push_back({.rank = Topology::NodeOf(rank),
                         .storage = NodeId(topology.first_storage() + server),
                         .bytes = Bytes(bytes)});
  }
}

}  // namespace

std::vector<StorageMessage> StorageMessagesOf(const StorageAmount& amount,
                                              const ParallelPlan& plan,
                                              const Topology& topology) {
  std::vector<StorageMessage> messages;
  int64_t part = 0;
  for (const std::vector<RankId>& ranks : MoversOf(amount.ranks, plan)) {
    AppendMessages(amount, ranks, topology, &part, &messages);
  }
  return messages;
}

}  // namespace astra
