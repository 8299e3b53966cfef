#include "collectives/nccl/point_to_point.h"

#include <algorithm>

namespace astra {

LatencyParts PointToPointParts(CollectiveKind kind,
                               const GroupHardware& hardware,
                               const ProtocolLatency& latency) {
  constexpr double kBaseUs = 8.4;
  constexpr double kNvlinkUs = 3.4;
  constexpr double kNetUs = 14;
  const double post_us = hardware.cpu == CpuVendor::kAmd ? 2 : 1;
  const double peers =
      IsAllToAll(kind) ? hardware.num_ranks - hardware.ranks_per_server : 1;
  return {latency.start * kBaseUs, latency.hop * kNvlinkUs,
          kNetUs + 2 * hardware.net_latency_us + peers * post_us};
}

double PointToPointUs(const LatencyParts& parts, const GroupHardware& hardware,
                      const HopExtra& extra) {
  const double hop_us = hardware.num_servers == 1
                            ? parts.within_us + extra.within_us
                            : parts.between_us + extra.between_us;
  return parts.start_us + std::max(0.0, hop_us);
}

}  // namespace astra
