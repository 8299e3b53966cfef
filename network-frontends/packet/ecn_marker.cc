#include "network-frontends/packet/ecn_marker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "astra-core/base/random.h"

namespace astra {

EcnMarker::EcnMarker(const PacketSetup& setup, PortArray ports)
    : seed_(setup.options.seed) {
  const Topology& topology = setup.topology;
  // Rate, and whether the link leaves a switch of the fabric.
  std::vector<std::pair<Bandwidth, bool>> known;
  profile_of_.resize(topology.links().size());
  for (uint32_t i = 0; i < profile_of_.size(); ++i) {
    const Bandwidth rate = topology.type(LinkId(i)).bandwidth;
    const bool is_fabric =
        topology.kind(topology.link(LinkId(i)).source) == NodeKind::kSwitch;
    const std::pair<Bandwidth, bool> key(rate, is_fabric);
    const auto found = std::find(known.begin(), known.end(), key);
    profile_of_[i] = static_cast<uint32_t>(found - known.begin());
    if (found != known.end()) continue;
    known.push_back(key);
    profiles_.push_back(
        ProfileOf(rate, is_fabric ? setup.options.fabric.ecn_thresholds
                                  : setup.options.nv_switch.ecn_thresholds));
  }
  for (uint32_t i = 0; i < profile_of_.size(); ++i) {
    Port& port = ports[LinkId(i)];
    if (port.marks) port.mark_above = profiles_[profile_of_[i]].min;
  }
}

EcnMarker::Profile EcnMarker::ProfileOf(
    Bandwidth rate, const std::vector<EcnThresholds>& given) {
  if (given.empty()) return {Bytes(INT64_MAX), Bytes(INT64_MAX), 0};
  // Distance of two rates: the logarithm of their ratio.
  const auto distance = [rate](const EcnThresholds& thresholds) {
    return std::abs(std::log(static_cast<double>(thresholds.rate.count()) /
                             static_cast<double>(rate.count())));
  };
  const EcnThresholds& nearest =
      *std::min_element(given.begin(), given.end(),
                        [&](const EcnThresholds& a, const EcnThresholds& b) {
                          return distance(a) < distance(b);
                        });
  const double scale = static_cast<double>(rate.count()) /
                       static_cast<double>(nearest.rate.count());
  const auto scaled = [scale](Bytes bytes) {
    return Bytes(std::llround(scale * static_cast<double>(bytes.count())));
  };
  return {scaled(nearest.min_queue), scaled(nearest.max_queue),
          nearest.max_probability};
}

bool EcnMarker::Marks(LinkId link, const Port& port) const {
  const Profile& profile = profiles_[profile_of_[link.index()]];
  if (port.queued >= profile.max) return true;
  const double probability =
      profile.max_probability *
      static_cast<double>((port.queued - profile.min).count()) /
      static_cast<double>((profile.max - profile.min).count());
  const uint64_t draw = HashOf(seed_, uint64_t{link.index()}, ~port.num_sent());
  return UnitInterval(draw) < probability;
}

}  // namespace astra
