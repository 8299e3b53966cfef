#include "collectives/algorithms/nvls_tree.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/server_tree.h"

namespace astra {
namespace {

absl::Status CheckLayout(const GroupLayout& layout) {
  if (layout.num_servers() == 1) {
    return absl::FailedPreconditionError(
        "nvls_tree needs a group on several servers; nvls is for one");
  }
  if (layout.nv_switches_per_server() == 0) {
    return absl::FailedPreconditionError(
        "nvls_tree needs on each server an NVSwitch that all ranks of the "
        "group there are linked to");
  }
  return absl::OkStatus();
}

// Adds the flows of `chunk`, whose heads are rank number `index` of each
// server.
void AddFlows(const GroupLayout& layout, const ServerTree& tree, uint32_t index,
              const ChunkSpan& chunk, CausalBuilder& builder) {
  const auto head = [&](uint32_t server) {
    return layout.ranks_of(server)[index];
  };
  const auto nv_switch = [&](uint32_t server) {
    return layout.nv_switch(server,
                            chunk.channel % layout.nv_switches_per_server());
  };
  for (auto s = tree.order.rbegin(); s != tree.order.rend(); ++s) {
    for (const GroupRank rank : layout.ranks_of(*s)) {
      if (rank != head(*s)) builder.Reduce(rank, nv_switch(*s), chunk);
    }
    if (layout.ranks_of(*s).size() > 1) {
      builder.Reduce(nv_switch(*s), head(*s), chunk);
    }
    if (const auto parent = tree.parent[*s]) {
      builder.Reduce(head(*s), head(*parent), chunk);
    }
  }
  for (const uint32_t s : tree.order) {
    if (const auto parent = tree.parent[s]) {
      builder.Copy(head(*parent), head(s), chunk);
    }
    if (layout.ranks_of(s).size() == 1) continue;
    builder.Copy(head(s), nv_switch(s), chunk);
    for (const GroupRank rank : layout.ranks_of(s)) {
      builder.Copy(nv_switch(s), rank, chunk);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> NvlsTreePattern(
    const CollectiveRequest& request, Bytes bytes) {
  const GroupLayout& layout = request.layout();
  ASTRA_RETURN_IF_ERROR(CheckLayout(layout));
  const uint32_t num_channels = NumNvlsChannels(request, 2);
  const uint32_t num_heads = layout.min_ranks_per_server();
  const uint64_t most_flows =
      2 * (uint64_t{layout.num_ranks()} + uint64_t{2} * layout.num_servers());
  ASTRA_RETURN_IF_ERROR(CheckSize(kNvlsTreeAlgorithm.name, request,
                                  {num_heads * most_flows, num_heads},
                                  num_channels, FlowGraph::kMaxStoredFlows));
  const ServerTree trees[] = {MakeServerTree(layout.num_servers(), 0),
                              MakeServerTree(layout.num_servers(), 1)};
  CausalBuilder builder(layout.num_ranks(), layout.num_switches());
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    const ByteRange share = Piece({0, bytes.count()}, channel, num_channels);
    for (uint32_t h = 0; h < num_heads; ++h) {
      builder.AddChunk(Piece(share, h, num_heads));
      AddFlows(layout, trees[TreeOf(channel, num_channels)], h,
               {.first = channel * num_heads + h, .channel = channel}, builder);
    }
  }
  return std::move(builder).Build();
}

}  // namespace astra
