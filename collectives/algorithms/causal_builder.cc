#include "collectives/algorithms/causal_builder.h"

#include <utility>

namespace astra {
namespace {

uint64_t KeyOf(GroupRank member, uint32_t channel) {
  return uint64_t{member.index()} << 32 | channel;
}

}  // namespace

void CausalBuilder::Send(FlowOp op, GroupRank source, GroupRank target,
                         const ChunkSpan& chunks) {
  const FlowId flow =
      builder_.Add({.source = source,
                    .target = target,
                    .first_chunk = ChunkId(chunks.first),
                    .num_chunks = chunks.count,
                    .bytes = {},
                    .channel = static_cast<uint16_t>(chunks.channel),
                    .op = op});
  const uint32_t end = chunks.first + chunks.count;
  if (const auto found = arrivals_.find(KeyOf(source, chunks.channel));
      found != arrivals_.end()) {
    for (const Arrival& arrival : found->second) {
      if (arrival.first_chunk < end && chunks.first < arrival.end_chunk) {
        builder_.AddDependency(arrival.flow, flow);
      }
    }
  }
  std::vector<Arrival>& arrivals = arrivals_[KeyOf(target, chunks.channel)];
  if (op == FlowOp::kCopy) {
    std::erase_if(arrivals, [&](const Arrival& arrival) {
      return chunks.first <= arrival.first_chunk && arrival.end_chunk <= end;
    });
  }
  arrivals.push_back({chunks.first, end, flow});
}

std::unique_ptr<const FlowGraph> CausalBuilder::Build() && {
  arrivals_.clear();
  return std::move(builder_).Build();
}

}  // namespace astra
