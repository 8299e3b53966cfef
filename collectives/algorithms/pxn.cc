#include "collectives/algorithms/pxn.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

class PxnBuilder {
 public:
  PxnBuilder(const CollectiveRequest& request, Bytes bytes)
      : layout_(request.layout()), builder_(layout_.num_ranks()) {
    AddChunks(request, bytes);
    for (uint32_t server = 0; server < layout_.num_servers(); ++server) {
      std::vector<bool>& rails = has_rail_.emplace_back();
      for (const GroupRank rank : layout_.ranks_of(server)) {
        const uint32_t rail = layout_.rail_of(rank);
        if (rail >= rails.size()) rails.resize(rail + 1);
        rails[rail] = true;
      }
    }
  }

  // Adds the flows of which the last goes from `source` to `target`.
  void AddFlows(GroupRank source, GroupRank target) {
    const uint32_t server = layout_.server_of(source);
    const uint32_t rail = layout_.rail_of(target);
    if (server == layout_.server_of(target) || !HasRail(server, rail)) {
      Send(source, target, ChunkOf(source, target), 1);
    } else if (layout_.rail_of(source) == rail) {
      Relay(source, target);
    }
  }

  std::unique_ptr<const FlowGraph> Build() && {
    return std::move(builder_).Build();
  }

 private:
  // Adds the chunks. The chunks from the ranks of a server to one target are in
  // a row.
  void AddChunks(const CollectiveRequest& request, Bytes bytes) {
    const uint32_t n = layout_.num_ranks();
    const bool is_uneven = IsAllToAllV(request);
    for (uint32_t server = 0; server < layout_.num_servers(); ++server) {
      first_chunk_.push_back(next_chunk_);
      for (uint32_t target = 0; target < n; ++target) {
        for (const GroupRank source : layout_.ranks_of(server)) {
          const int64_t begin = source.index() * bytes.count();
          builder_.AddChunk(
              is_uneven ? request.PairPart(source, GroupRank(target))
                        : Piece({begin, begin + bytes.count()}, target, n));
          ++next_chunk_;
        }
      }
    }
  }

  bool HasRail(uint32_t server, uint32_t rail) const {
    return rail < has_rail_[server].size() && has_rail_[server][rail];
  }

  uint32_t ChunkOf(GroupRank source, GroupRank target) const {
    const uint32_t server = layout_.server_of(source);
    const auto num_local =
        static_cast<uint32_t>(layout_.ranks_of(server).size());
    return first_chunk_[server] + target.index() * num_local +
           layout_.local_of(source);
  }

  // Adds the flows by which `relay` forwards to `target` the data of all ranks
  // of its server.
  void Relay(GroupRank relay, GroupRank target) {
    const auto ranks = layout_.ranks_of(layout_.server_of(relay));
    std::vector<FlowId> arrivals;
    for (const GroupRank rank : ranks) {
      if (rank == relay) continue;
      arrivals.push_back(Send(rank, relay, ChunkOf(rank, target), 1));
    }
    const FlowId relayed = Send(relay, target, ChunkOf(ranks.front(), target),
                                static_cast<uint32_t>(ranks.size()));
    for (const FlowId arrival : arrivals) {
      builder_.AddDependency(arrival, relayed);
    }
  }

  FlowId Send(GroupRank source, GroupRank target, uint32_t first_chunk,
              uint32_t num_chunks) {
    return builder_.Add({.source = source,
                         .target = target,
                         .first_chunk = ChunkId(first_chunk),
                         .num_chunks = num_chunks,
                         .bytes = {}});
  }

  const GroupLayout& layout_;
  FlowGraph::Builder builder_;
  uint32_t next_chunk_ = 0;
  std::vector<uint32_t> first_chunk_;  // First chunk by server of the source.
  // Whether a server has a rank on a rail, by server and rail.
  std::vector<std::vector<bool>> has_rail_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> PxnPattern(
    const CollectiveRequest& request, Bytes bytes) {
  ASTRA_CHECK(IsAllToAll(request.kind()), "{} by pxn", Name(request.kind()));
  const uint32_t n = request.num_ranks();
  const uint64_t num_pairs = uint64_t{n} * n;
  ASTRA_RETURN_IF_ERROR(CheckSize(kPxnAlgorithm.name, request,
                                  {num_pairs, num_pairs}, 1,
                                  FlowGraph::kMaxStoredFlows));
  PxnBuilder builder(request, bytes);
  for (uint32_t distance = 1; distance < n; ++distance) {
    for (uint32_t i = 0; i < n; ++i) {
      builder.AddFlows(GroupRank(i), GroupRank((i + distance) % n));
    }
  }
  return std::move(builder).Build();
}

}  // namespace astra
