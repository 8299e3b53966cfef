#include "collectives/algorithms/shots.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

absl::Status Check(std::string_view name, const CollectiveRequest& request,
                   uint32_t num_channels) {
  const uint64_t n = request.num_ranks();
  return CheckSize(name, request, {2 * n * (n - 1), n}, num_channels,
                   FlowGraph::kMaxStoredFlows);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> OneShotPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumChannels(request);
  ASTRA_RETURN_IF_ERROR(Check(kOneShotAlgorithm.name, request, num_channels));
  FlowGraph::Builder builder(n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    const ChunkId chunk =
        builder.AddChunk(Piece({0, bytes.count()}, channel, num_channels));
    for (uint32_t distance = 1; distance < n; ++distance) {
      for (uint32_t r = 0; r < n; ++r) {
        builder.Add({.source = GroupRank(r),
                     .target = GroupRank((r + distance) % n),
                     .first_chunk = chunk,
                     .bytes = {},
                     .channel = static_cast<uint16_t>(channel),
                     .op = FlowOp::kReduce});
      }
    }
  }
  return std::move(builder).Build();
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> TwoShotPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumChannels(request);
  ASTRA_RETURN_IF_ERROR(Check(kTwoShotAlgorithm.name, request, num_channels));
  CausalBuilder builder(n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    for (uint32_t r = 0; r < n; ++r) {
      builder.AddChunk(
          Piece(Piece({0, bytes.count()}, r, n), channel, num_channels));
    }
    for (const bool gathers : {false, true}) {
      for (uint32_t distance = 1; distance < n; ++distance) {
        for (uint32_t r = 0; r < n; ++r) {
          const uint32_t other = (r + distance) % n;
          const uint32_t part = channel * n + (gathers ? r : other);
          const ChunkSpan chunk = {.first = part, .channel = channel};
          if (gathers) {
            builder.Copy(GroupRank(r), GroupRank(other), chunk);
          } else {
            builder.Reduce(GroupRank(r), GroupRank(other), chunk);
          }
        }
      }
    }
  }
  return std::move(builder).Build();
}

}  // namespace astra
