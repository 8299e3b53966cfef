#include "collectives/ring.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/format.h"

namespace astra {
namespace {

// The steps of the all-reduce that make up a collective.
struct StepRange {
  uint32_t begin;
  uint32_t end;
};

StepRange StepsOf(CollectiveKind kind, uint32_t num_ranks) {
  const uint32_t half = num_ranks - 1;
  switch (kind) {
    case CollectiveKind::kReduceScatter:
      return {0, half};
    case CollectiveKind::kAllGather:
      return {half, 2 * half};
    case CollectiveKind::kAllReduce:
      return {0, 2 * half};
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kSendRecv:
      break;
  }
  ASTRA_CHECK(false, "{} on a ring", Name(kind));
}

// The first chunks take the bytes that do not divide evenly.
Bytes SizeOf(ChunkId chunk, int64_t num_chunks, Bytes buffer) {
  const int64_t bytes = buffer.count();
  return Bytes(bytes / num_chunks + (chunk.index() < bytes % num_chunks));
}

}  // namespace

uint32_t NumRingChannels(const GroupShape& shape) {
  return shape.num_servers() == 1 ? 1 : shape.ranks_per_server;
}

std::vector<GroupRank> RingOrder(const GroupShape& shape, uint32_t channel) {
  const uint32_t local_ranks = shape.ranks_per_server;
  std::vector<GroupRank> order;
  order.reserve(shape.num_ranks);
  for (uint32_t server = 0; server < shape.num_servers(); ++server) {
    for (uint32_t i = 0; i < local_ranks; ++i) {
      const uint32_t local =
          server % 2 == 0 ? (channel + i) % local_ranks
                          : (channel + local_ranks - 1 - i) % local_ranks;
      order.push_back(GroupRank(server * local_ranks + local));
    }
  }
  return order;
}

absl::StatusOr<FlowGraph> LowerRing(const CollectiveRequest& request) {
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumRingChannels(request.shape());
  const StepRange steps = StepsOf(request.kind(), n);
  const int64_t flows_per_step = int64_t{n} * num_channels;
  const int64_t num_flows = flows_per_step * (steps.end - steps.begin);
  if (num_flows > FlowGraph::kMaxFlows) {
    return absl::ResourceExhaustedError(fmt::format(
        "ring {} over {} ranks on {} channel(s) needs {} flows, more than the "
        "limit of {}",
        Name(request.kind()), n, num_channels, num_flows,
        FlowGraph::kMaxFlows));
  }

  std::vector<std::vector<GroupRank>> orders;
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    orders.push_back(RingOrder(request.shape(), channel));
  }
  FlowGraph::Builder builder(n);
  for (uint32_t step = steps.begin; step < steps.end; ++step) {
    for (uint32_t channel = 0; channel < num_channels; ++channel) {
      const std::vector<GroupRank>& order = orders[channel];
      for (uint32_t p = 0; p < n; ++p) {
        const GroupRank owner = order[(p + 2 * n - step - 1) % n];
        const ChunkId chunk(channel * n + owner.index());
        const FlowId flow = builder.Add(
            {.source = order[p],
             .target = order[(p + 1) % n],
             .chunk = chunk,
             .op = step < n - 1 ? FlowOp::kReduce : FlowOp::kCopy,
             .bytes = SizeOf(chunk, flows_per_step, request.bytes())});
        if (step == steps.begin) continue;
        const int64_t step_before = flow.index() - flows_per_step - p;
        builder.AddDependency(
            FlowId(static_cast<uint32_t>(step_before + (p + n - 1) % n)), flow);
      }
    }
  }
  return std::move(builder).Build();
}

StepSchedule RingSteps(CollectiveKind kind, const GroupShape& shape) {
  const StepRange steps = StepsOf(kind, shape.num_ranks);
  const uint32_t num_channels = NumRingChannels(shape);
  StepSchedule schedule(1);
  ScheduleStep& step = schedule.front();
  step.repeat = steps.end - steps.begin;
  const double share = 1 / (double{1} * shape.num_ranks * num_channels);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    const std::vector<GroupRank> order = RingOrder(shape, channel);
    for (uint32_t p = 0; p < shape.num_ranks; ++p) {
      step.flows.push_back({order[p], order[(p + 1) % shape.num_ranks], share});
    }
  }
  return schedule;
}

}  // namespace astra
