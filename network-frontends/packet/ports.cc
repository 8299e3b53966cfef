#include "network-frontends/packet/ports.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "astra-core/base/check.h"
#include "network-frontends/packet/packet_events.h"

namespace astra {

Ports::Ports(const PacketSetup& setup) : setup_(setup), ports_(HugePages()) {
  const Topology& topology = setup.topology;
  const size_t num_links = topology.links().size();
  ASTRA_CHECK(num_links < PacketEvents::kMaxIds, "{} links", num_links);
  ports_.resize(num_links);
  for (uint32_t i = 0; i < num_links; ++i) {
    const LinkId id(i);
    const Link& link = topology.link(id);
    Port& port = ports_[i];
    port.source = link.source;
    port.target = link.target;
    port.propagation = setup.DelayOf(id);
    SetErrorRate(id, setup.ErrorRateOf(id));
    port.resolution = setup.options.time_resolution;
    if (!topology.IsHost(link.target)) {
      port.cuts_through =
          setup.SwitchOf(link.target).switching == Switching::kCutThrough;
    }
    SetRate(id, 1);
  }
}

void Ports::SetRate(LinkId link, double factor) {
  Port& port = (*this)[link];
  port.nominal_rate = setup_.topology.type(link).bandwidth;
  port.rate = Bandwidth(
      std::llround(static_cast<double>(port.nominal_rate.count()) * factor));
  port.is_down = port.rate == Bandwidth();
  if (port.is_down) return;
  port.CarryForward();
  const std::array<Bytes, kNumKnownSizes> sizes = {setup_.full, setup_.ack};
  for (size_t i = 0; i < kNumKnownSizes; ++i) {
    const TimePs time = port.Divide(sizes[i]);
    const bool is_known = time <= TimePs(UINT32_MAX);
    port.known_bytes[i] =
        is_known ? static_cast<uint16_t>(sizes[i].count()) : uint16_t{0};
    port.known_ps[i] = is_known ? static_cast<uint32_t>(time.count()) : 0;
  }
}

}  // namespace astra
