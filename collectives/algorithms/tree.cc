#include "collectives/algorithms/tree.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/server_tree.h"

namespace astra {
namespace {

uint32_t NumTreeChannels(const CollectiveRequest& request) {
  const bool is_one_server = request.layout().num_servers() == 1;
  const bool is_default = request.chunking().num_channels == 0;
  return (is_default && !is_one_server ? 2 : 1) * NumChannels(request);
}

// Adds the flows of `chunk`; `index` selects the tree ranks (see ServerChain).
void AddFlows(const GroupLayout& layout, const ServerTree& tree, uint32_t index,
              const ChunkSpan& chunk, CausalBuilder& builder) {
  std::vector<std::vector<GroupRank>> chains;
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    chains.push_back(ServerChain(layout, server, index));
  }
  for (auto server = tree.order.rbegin(); server != tree.order.rend();
       ++server) {
    const std::vector<GroupRank>& chain = chains[*server];
    for (size_t i = chain.size() - 1; i > 0; --i) {
      builder.Reduce(chain[i], chain[i - 1], chunk);
    }
    if (const auto parent = tree.parent[*server]) {
      builder.Reduce(chain[0], chains[*parent][0], chunk);
    }
  }
  for (const uint32_t server : tree.order) {
    const std::vector<GroupRank>& chain = chains[server];
    if (const auto parent = tree.parent[server]) {
      builder.Copy(chains[*parent][0], chain[0], chunk);
    }
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      builder.Copy(chain[i], chain[i + 1], chunk);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> TreePattern(
    const CollectiveRequest& request, Bytes bytes) {
  const GroupLayout& layout = request.layout();
  const uint32_t num_channels = NumTreeChannels(request);
  ASTRA_RETURN_IF_ERROR(CheckSize(kTreeAlgorithm.name, request,
                                  {2 * (uint64_t{layout.num_ranks()} - 1), 1},
                                  num_channels, FlowGraph::kMaxStoredFlows));
  const ServerTree trees[] = {MakeServerTree(layout.num_servers(), 0),
                              MakeServerTree(layout.num_servers(), 1)};
  CausalBuilder builder(layout.num_ranks());
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    builder.AddChunk(Piece({0, bytes.count()}, channel, num_channels));
    const uint32_t index = channel % ((num_channels + 1) / 2);
    AddFlows(layout, trees[TreeOf(channel, num_channels)], index,
             {.first = channel, .channel = channel}, builder);
  }
  return std::move(builder).Build();
}

}  // namespace astra
