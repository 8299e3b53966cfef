#include "collectives/algorithms/nvls.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "fmt/core.h"

namespace astra {

absl::Status CheckOneServerWithNvSwitch(std::string_view name,
                                        const GroupLayout& layout) {
  if (layout.num_servers() > 1) {
    return absl::FailedPreconditionError(
        fmt::format("{} needs a group on one server; this one is on {} servers",
                    name, layout.num_servers()));
  }
  if (layout.nv_switches_per_server() == 0) {
    return absl::FailedPreconditionError(fmt::format(
        "{} needs an NVSwitch that all ranks of the group are linked to",
        name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> NvlsPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const GroupLayout& layout = request.layout();
  ASTRA_RETURN_IF_ERROR(
      CheckOneServerWithNvSwitch(kNvlsAlgorithm.name, layout));
  const bool reduces = request.kind() != CollectiveKind::kAllGather;
  const bool gathers = request.kind() != CollectiveKind::kReduceScatter;
  const uint32_t n = layout.num_ranks();
  const uint32_t num_channels = NumNvlsChannels(request, 1);
  ASTRA_RETURN_IF_ERROR(CheckSize(kNvlsAlgorithm.name, request,
                                  {2 * uint64_t{n} * (n + 1), n}, num_channels,
                                  FlowGraph::kMaxStoredFlows));
  CausalBuilder builder(n, layout.num_switches());
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    const GroupRank nv_switch =
        layout.nv_switch(0, channel % layout.nv_switches_per_server());
    for (uint32_t r = 0; r < n; ++r) {
      const GroupRank head(r);
      const ChunkSpan chunk = {.first = channel * n + r, .channel = channel};
      builder.AddChunk(
          Piece(Piece({0, bytes.count()}, r, n), channel, num_channels));
      for (uint32_t i = 0; reduces && i < n; ++i) {
        builder.Reduce(GroupRank(i), nv_switch, chunk);
      }
      if (reduces) builder.Copy(nv_switch, head, chunk);
      if (gathers) builder.Copy(head, nv_switch, chunk);
      for (uint32_t i = 0; gathers && i < n; ++i) {
        builder.Copy(nv_switch, GroupRank(i), chunk);
      }
    }
  }
  return std::move(builder).Build();
}

}  // namespace astra
