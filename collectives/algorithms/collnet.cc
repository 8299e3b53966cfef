#include "collectives/algorithms/collnet.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/server_tree.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Check(const PatternAlgorithm& algorithm,
                   const CollectiveRequest& request, uint64_t num_chunks) {
  const GroupLayout& layout = request.layout();
  if (layout.reducers().empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "{} needs switches that reduce in the fabric", algorithm.name));
  }
  const uint64_t most_flows =
      2 * (uint64_t{layout.num_ranks()} + layout.reducers().size());
  return CheckSize(algorithm.name, request, {most_flows, 1}, num_chunks,
                   FlowGraph::kMaxStoredFlows);
}

// Adds up `chunk` of `heads`, one for each server, and returns the sum to them.
void AddFabricFlows(const GroupLayout& layout,
                    absl::Span<const GroupRank> heads, const ChunkSpan& chunk,
                    CausalBuilder& builder) {
  const absl::Span<const GroupLayout::Reducer> reducers = layout.reducers();
  std::vector<bool> takes_part(reducers.size());
  for (const GroupRank head : heads) {
    takes_part[layout.leaf_of(head)] = true;
    builder.Reduce(head, layout.reducer(layout.leaf_of(head)), chunk);
  }
  for (uint32_t i = 0; i < reducers.size(); ++i) {
    if (!takes_part[i] || !reducers[i].parent) continue;
    takes_part[*reducers[i].parent] = true;
    builder.Reduce(layout.reducer(i), layout.reducer(*reducers[i].parent),
                   chunk);
  }
  for (auto i = static_cast<uint32_t>(reducers.size()); i-- > 0;) {
    if (!takes_part[i] || !reducers[i].parent) continue;
    builder.Copy(layout.reducer(*reducers[i].parent), layout.reducer(i), chunk);
  }
  for (const GroupRank head : heads) {
    builder.Copy(layout.reducer(layout.leaf_of(head)), head, chunk);
  }
}

void AddDirectFlows(const GroupLayout& layout, uint32_t index,
                    const ChunkSpan& chunk, CausalBuilder& builder) {
  std::vector<GroupRank> heads;
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    heads.push_back(layout.ranks_of(server)[index]);
    for (const GroupRank rank : layout.ranks_of(server)) {
      if (rank != heads.back()) builder.Reduce(rank, heads.back(), chunk);
    }
  }
  AddFabricFlows(layout, heads, chunk, builder);
  for (const GroupRank head : heads) {
    for (const GroupRank rank : layout.ranks_of(layout.server_of(head))) {
      if (rank != head) builder.Copy(head, rank, chunk);
    }
  }
}

void AddChainFlows(const GroupLayout& layout, const ChunkSpan& chunk,
                   CausalBuilder& builder) {
  std::vector<std::vector<GroupRank>> chains;
  std::vector<GroupRank> heads;
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    chains.push_back(ServerChain(layout, server, chunk.channel));
    heads.push_back(chains.back().front());
    for (size_t i = chains.back().size() - 1; i > 0; --i) {
      builder.Reduce(chains.back()[i], chains.back()[i - 1], chunk);
    }
  }
  AddFabricFlows(layout, heads, chunk, builder);
  for (const std::vector<GroupRank>& chain : chains) {
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      builder.Copy(chain[i], chain[i + 1], chunk);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> CollnetDirectPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const GroupLayout& layout = request.layout();
  const uint32_t asked = request.chunking().num_channels;
  const uint32_t num_channels = asked > 0 ? asked : 1;
  const uint32_t num_heads = layout.min_ranks_per_server();
  ASTRA_RETURN_IF_ERROR(Check(kCollnetDirectAlgorithm, request,
                              uint64_t{num_channels} * num_heads));
  CausalBuilder builder(layout.num_ranks(), layout.num_switches());
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    const ByteRange share = Piece({0, bytes.count()}, channel, num_channels);
    for (uint32_t h = 0; h < num_heads; ++h) {
      builder.AddChunk(Piece(share, h, num_heads));
      AddDirectFlows(layout, h,
                     {.first = channel * num_heads + h, .channel = channel},
                     builder);
    }
  }
  return std::move(builder).Build();
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> CollnetChainPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const GroupLayout& layout = request.layout();
  const uint32_t num_channels = NumChannels(request);
  ASTRA_RETURN_IF_ERROR(Check(kCollnetChainAlgorithm, request, num_channels));
  CausalBuilder builder(layout.num_ranks(), layout.num_switches());
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    builder.AddChunk(Piece({0, bytes.count()}, channel, num_channels));
    AddChainFlows(layout, {.first = channel, .channel = channel}, builder);
  }
  return std::move(builder).Build();
}

}  // namespace astra
