#include "astra-core/serving/kv_path.h"

#include <algorithm>
#include <cmath>

#include "absl/status/statusor.h"
#include "astra-core/base/status_macros.h"

namespace astra {

TimePs KvPath::TimeOf(const KvTransfer& transfer) {
  const Pace& pace = PaceOf(transfer.source, transfer.target);
  const double bytes = transfer.share * kv_.BytesOf(transfer.tokens);
  return pace.latency +
         TimePs(std::llround(bytes * pace.seconds_per_byte * kPsPerSecond));
}

const KvPath::Pace& KvPath::PaceOf(uint32_t source, uint32_t target) {
  const auto [entry, is_new] = paces_.try_emplace({source, target});
  if (is_new) status_.Update(FindPace(source, target, entry->second));
  return entry->second;
}

absl::Status KvPath::FindPace(uint32_t source, uint32_t target, Pace& pace) {
  constexpr double kBitsPerByte = 8;
  const Topology& topology = routes_.topology();
  std::map<LinkId, double> shares;  // What the links of GPUs carry.
  for (const KvFlow& flow : kv_.flows) {
    ASTRA_ASSIGN_OR_RETURN(const Route route,
                           routes_.Find(from_.GpuOf(source, flow.source),
                                        to_.GpuOf(target, flow.target)));
    pace.latency = std::max(pace.latency, route.latency);
    const auto rate =
        static_cast<double>(routes_.BottleneckBandwidth(route).count());
    pace.seconds_per_byte =
        std::max(pace.seconds_per_byte, flow.share * kBitsPerByte / rate);
    for (const LinkShares* links : {&route.first, &route.last}) {
      for (const LinkShare& link : *links) {
        shares[link.link] += flow.share * link.share;
      }
    }
  }
  for (const auto& [link, share] : shares) {
    const auto rate =
        static_cast<double>(topology.type(link).bandwidth.count());
    pace.seconds_per_byte =
        std::max(pace.seconds_per_byte, share * kBitsPerByte / rate);
  }
  return absl::OkStatus();
}

}  // namespace astra
