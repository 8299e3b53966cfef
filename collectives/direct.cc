#include "collectives/direct.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/format.h"

namespace astra {
namespace {

// Every pair of ranks that exchanges something, in the order of sending: each
// rank's nearest successor first.
std::vector<std::pair<uint32_t, uint32_t>> Pairs(CollectiveKind kind,
                                                 uint32_t n) {
  if (kind == CollectiveKind::kSendRecv) return {{0, 1}};
  ASTRA_CHECK(kind == CollectiveKind::kAllToAll, "direct {}", Name(kind));
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  pairs.reserve(size_t{n} * (n - 1));
  for (uint32_t distance = 1; distance < n; ++distance) {
    for (uint32_t i = 0; i < n; ++i) {
      pairs.emplace_back(i, (i + distance) % n);
    }
  }
  return pairs;
}

// How many parts the buffer of a rank is cut into.
int64_t NumParts(CollectiveKind kind, uint32_t n) {
  return kind == CollectiveKind::kSendRecv ? 1 : n;
}

}  // namespace

absl::StatusOr<FlowGraph> LowerDirect(const CollectiveRequest& request) {
  const uint32_t n = request.num_ranks();
  if (int64_t{n} * (n - 1) > FlowGraph::kMaxFlows) {
    return absl::ResourceExhaustedError(fmt::format(
        "direct {} over {} ranks needs {} flows, more than the limit of {}",
        Name(request.kind()), n, int64_t{n} * (n - 1), FlowGraph::kMaxFlows));
  }
  const int64_t bytes = request.bytes().count();
  const int64_t num_parts = NumParts(request.kind(), n);
  FlowGraph::Builder builder(n);
  for (const auto& [source, target] : Pairs(request.kind(), n)) {
    const bool takes_rest = target < bytes % num_parts;
    builder.Add({.source = GroupRank(source),
                 .target = GroupRank(target),
                 .chunk = ChunkId(source * n + target),
                 .op = FlowOp::kCopy,
                 .bytes = Bytes(bytes / num_parts + takes_rest)});
  }
  return std::move(builder).Build();
}

StepSchedule DirectSteps(CollectiveKind kind, const GroupShape& shape) {
  const double share = 1 / static_cast<double>(NumParts(kind, shape.num_ranks));
  StepSchedule schedule(1);
  ScheduleStep& step = schedule.front();
  for (const auto& [source, target] : Pairs(kind, shape.num_ranks)) {
    step.flows.push_back({GroupRank(source), GroupRank(target), share});
  }
  return schedule;
}

}  // namespace astra
