// The network packet by packet: RoCE NICs, switches with shared buffers, ECN
// and PFC, congestion control.
//
//   NIC       A message is packets of a queue pair. Queue pairs of a port take
//             turns, packet by packet, within their windows and rates;
//             acknowledgements go first. What is lost is sent again: all from
//             the gap on, or only the gap.
//   link      Serialisation at its rate, then propagation; both exact, to the
//             picosecond.
//   switch    Store-and-forward or cut-through, a queue for control and one for
//             data at each port, one buffer for all ports; ECN marks as packets
//             leave; PFC by incoming link.
//   path      One of the shortest by a hash of the queue pair, or chosen by
//   each
//             switch for each packet or flowlet.
//
// NVSwitches are switches with options of their own. What reduces or multicasts
// does so by messages to and from a switch.
//
// Every link costs a packet one event: when it is at the far end. What leaves a
// port meanwhile follows from what was there; see port.h.
//
// Left out: processing time in GPUs and NICs (see MessageCosts in flow_run.h),
// PCIe, and receivers that are slower than their link.
//
// Sources: Y. Zhu et al., "Congestion control for large-scale RDMA
// deployments", SIGCOMM 2015 (switch and NIC); InfiniBand
// specification 1.3, 9.7 (go-back-N); IEEE 802.1Qbb (PFC).

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_BACKEND_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_options.h"
#include "topology/topology.h"

namespace astra {

class PacketNetwork;

class PacketBackend final : public NetworkBackend {
 public:
  // `topology` must outlive the backend. Requires CheckPacketOptions.
  PacketBackend(const Topology& topology, const PacketOptions& options);
  ~PacketBackend() override;

  TimePs now() const override;
  void Send(const Message& message) override;
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;

  // Payload, of what was sent again too.
  absl::Span<const double> link_bytes() const override;

  const NetworkStatistics& statistics() override;
  std::string WhyStuck() const override;

 private:
  std::unique_ptr<PacketNetwork> network_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_BACKEND_H_
