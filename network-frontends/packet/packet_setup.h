// Data that every part of the packet network may read and none changes: the
// topology, the options, and what the congestion control adds to packets.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_SETUP_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_SETUP_H_

#include <memory>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet_options.h"
#include "topology/topology.h"

namespace astra {

struct PacketSetup {
  // Number of ports for which HPCC's header has room; see congestion/hpcc.h.
  static constexpr uint32_t kMaxHops = 5;

  // `of_topology` must outlive the setup. Requires CheckPacketOptions.
  PacketSetup(const Topology& of_topology, const PacketOptions& given);

  // Returns the options of a switch of the fabric or of an NVSwitch.
  const SwitchOptions& SwitchOf(NodeId node) const {
    return topology.kind(node) == NodeKind::kSwitch ? options.fabric
                                                    : options.nv_switch;
  }

  // Returns the propagation delay of the link and the latency of the switch at
  // its far end.
  TimePs DelayOf(LinkId link) const {
    const NodeId far = topology.link(link).target;
    const TimePs latency = topology.type(link).latency;
    return topology.IsHost(far) ? latency : latency + SwitchOf(far).latency;
  }

  // Returns the probability that a packet is lost on the link.
  double ErrorRateOf(LinkId link) const {
    const double own = topology.type(link).error_rate;
    return own > 0 ? own : options.error_rate;
  }

  const Topology& topology;
  const PacketOptions options;
  const std::unique_ptr<CongestionControl> control;
  // Sizes of packets. Headers and acknowledgements include telemetry.
  const Bytes payload;
  const Bytes header;
  const Bytes full;  // Payload and header of a full packet.
  const Bytes ack;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_SETUP_H_
