#include "collectives/algorithms/chain.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/ring.h"

namespace astra {

absl::StatusOr<std::unique_ptr<const FlowGraph>> ChainPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const bool is_reduce = request.kind() == CollectiveKind::kReduce;
  ASTRA_CHECK(is_reduce || request.kind() == CollectiveKind::kBroadcast,
              "{} on a chain", Name(request.kind()));
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumChannels(request);
  ASTRA_RETURN_IF_ERROR(CheckSize(kChainAlgorithm.name, request, {n - 1, 1},
                                  num_channels, FlowGraph::kMaxStoredFlows));
  CausalBuilder builder(n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    builder.AddChunk(Piece({0, bytes.count()}, channel, num_channels));
    std::vector<GroupRank> chain = RingOrder(request.layout(), channel);
    const auto root = std::find(chain.begin(), chain.end(), request.root());
    std::rotate(chain.begin(), is_reduce ? root + 1 : root, chain.end());
    const ChunkSpan chunk = {.first = channel, .channel = channel};
    for (uint32_t i = 0; i + 1 < n; ++i) {
      if (is_reduce) {
        builder.Reduce(chain[i], chain[i + 1], chunk);
      } else {
        builder.Copy(chain[i], chain[i + 1], chunk);
      }
    }
  }
  return std::move(builder).Build();
}

}  // namespace astra
