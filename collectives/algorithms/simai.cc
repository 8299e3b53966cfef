#include "collectives/algorithms/simai.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/chunks.h"
#include "collectives/algorithms/nvls.h"
#include "collectives/algorithms/ring.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr uint32_t kNvlsChunks = 4;

absl::StatusOr<Rings> SimaiRings(const GroupLayout& layout) {
  if (!layout.is_even()) {
    return absl::FailedPreconditionError(fmt::format(
        "simai_ring needs equally many ranks of the group on each "
        "server, not {} to {}",
        layout.min_ranks_per_server(), layout.max_ranks_per_server()));
  }
  const uint32_t num_local = layout.min_ranks_per_server();
  Rings rings = {.name = "simai_ring", .num_channels = num_local, .orders = {}};
  for (uint32_t channel = 0; channel < num_local; ++channel) {
    std::vector<GroupRank>& order = rings.orders.emplace_back();
    for (uint32_t server = 0; server < layout.num_servers(); ++server) {
      for (uint32_t i = 0; i < num_local; ++i) {
        order.push_back(layout.ranks_of(server)[(channel + i) % num_local]);
      }
    }
  }
  return rings;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiRing(
    const CollectiveRequest& request) {
  ASTRA_ASSIGN_OR_RETURN(Rings rings, SimaiRings(request.layout()));
  ASTRA_ASSIGN_OR_RETURN(const CollectiveRequest whole,
                         request.With(Chunking{}));
  return LowerRings(whole, std::move(rings));
}

absl::StatusOr<StepSchedule> SimaiRingSteps(const CollectiveRequest& request) {
  ASTRA_ASSIGN_OR_RETURN(const Rings rings, SimaiRings(request.layout()));
  return RingsSteps(request, rings);
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiDirect(
    const CollectiveRequest& request) {
  const uint32_t n = request.num_ranks();
  const uint64_t num_chunks = uint64_t{n} * n;
  ASTRA_RETURN_IF_ERROR(CheckSize("simai_direct", request,
                                  {num_chunks - n, num_chunks}, 1,
                                  FlowGraph::kMaxStoredFlows));
  FlowGraph::Builder builder(n);
  for (uint32_t source = 0; source < n; ++source) {
    for (uint32_t target = 0; target < n; ++target) {
      const ChunkId chunk = builder.AddChunk(
          request.PairPart(GroupRank(source), GroupRank(target)));
      if (source == target) continue;
      builder.Add({.source = GroupRank(source),
                   .target = GroupRank(target),
                   .first_chunk = chunk,
                   .bytes = {}});
    }
  }
  return std::move(builder).Build();
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiNvls(
    const CollectiveRequest& request) {
  const GroupLayout& layout = request.layout();
  ASTRA_RETURN_IF_ERROR(CheckOneServerWithNvSwitch("simai_nvls", layout));
  const uint32_t n = layout.num_ranks();
  const GroupRank nv_switch = layout.nv_switch(0, 0);
  FlowGraph::Builder builder(n, layout.num_switches());
  std::vector<FlowId> up(n);  // Upward flows of the chunk before.
  for (uint32_t i = 0; i < kNvlsChunks; ++i) {
    const ChunkId chunk =
        builder.AddChunk(Piece({0, request.bytes().count()}, i, kNvlsChunks));
    for (uint32_t r = 0; r < n; ++r) {
      const FlowId flow = builder.Add({.source = GroupRank(r),
                                       .target = nv_switch,
                                       .first_chunk = chunk,
                                       .bytes = {},
                                       .op = FlowOp::kReduce});
      if (i > 0) builder.AddDependency(up[r], flow);
      up[r] = flow;
    }
    for (uint32_t r = 0; r < n; ++r) {
      const FlowId flow = builder.Add({.source = nv_switch,
                                       .target = GroupRank(r),
                                       .first_chunk = chunk,
                                       .bytes = {},
                                       .op = FlowOp::kCopy});
      for (const FlowId arrival : up) builder.AddDependency(arrival, flow);
    }
  }
  return std::move(builder).Build();
}

absl::StatusOr<StepSchedule> SimaiNvlsSteps(const CollectiveRequest& request) {
  const GroupLayout& layout = request.layout();
  ASTRA_RETURN_IF_ERROR(CheckOneServerWithNvSwitch("simai_nvls", layout));
  const GroupRank nv_switch = layout.nv_switch(0, 0);
  constexpr double kShare = 1. / kNvlsChunks;
  ScheduleStep up = {.repeat = kNvlsChunks, .flows = {}};
  ScheduleStep down = {.repeat = kNvlsChunks, .flows = {}};
  for (uint32_t r = 0; r < layout.num_ranks(); ++r) {
    up.flows.push_back({GroupRank(r), nv_switch, kShare});
    down.flows.push_back({nv_switch, GroupRank(r), kShare});
  }
  return StepSchedule{.steps = {std::move(up), std::move(down)},
                      .is_pipelined = true};
}

}  // namespace astra
