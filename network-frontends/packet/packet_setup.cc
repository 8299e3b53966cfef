#include "network-frontends/packet/packet_setup.h"

#include "astra-core/base/check.h"
#include "network-frontends/packet/congestion/registry.h"

namespace astra {
namespace {

std::unique_ptr<CongestionControl> MakeControl(
    const CongestionOptions& options) {
  const auto control = FindCongestionControl(options.name);
  ASTRA_CHECK(control.ok(), "{}", control.status().ToString());
  return (*control)->make(options);
}

}  // namespace

PacketSetup::PacketSetup(const Topology& of_topology,
                         const PacketOptions& given)
    : topology(of_topology),
      options(given),
      control(MakeControl(given.congestion)),
      payload(given.nic.payload),
      header(given.nic.header + Bytes(control->header_bytes(kMaxHops))),
      full(payload + header),
      ack(given.nic.ack + Bytes(control->header_bytes(kMaxHops))) {}

}  // namespace astra
