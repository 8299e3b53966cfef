// Network backend that simulates each packet: RoCE NICs, switches with shared
// buffers, ECN and PFC, and congestion control.
//
// clang-format off
//   NIC       A message is a run of packets of a queue pair. Queue pairs of a
//             port take turns, packet by packet, within their windows and
//             rates; acknowledgements go first. After a loss, either all
//             packets from the gap on are sent again, or only the lost ones.
//   link      Serialisation at the rate of the link, then propagation; both are
//             exact to the picosecond.
//   switch    Store-and-forward or cut-through; a queue for control and one
//             for data at each port; one buffer for all ports; ECN marks as
//             packets leave; PFC by incoming link.
//   path      One of the shortest, by a hash of the queue pair, or chosen by
//             each switch for each packet or flowlet.
// clang-format on
//
// NVSwitches are switches with options of their own. Ranks reduce or multicast
// in a switch by sending messages to and from it.
//
// Every link costs a packet one event, at which the packet is at the far end.
// Departures from a port in the meantime follow from the state of the port; see
// port.h.
//
// Left out: processing time in GPUs and NICs (see MessageCosts in flow_run.h),
// PCIe, and receivers that are slower than their link.
//
// Sources: Y. Zhu et al., "Congestion control for large-scale RDMA
// deployments", SIGCOMM 2015 (switch and NIC); InfiniBand specification 1.3,
// 9.7 (go-back-N); IEEE 802.1Qbb (PFC).

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
  void Drain() override;
  void LogArrivals(const ArrivalLog& log) override;

  // Counts payload, including payload that was sent again.
  absl::Span<const double> link_bytes() const override;

  WorkDone work() const override;
  const NetworkStatistics& statistics() override;
  std::string WhyStuck() const override;
  TimePs last_give_up() const override;
  ReplaySupport* replay() override;

 private:
  std::unique_ptr<PacketNetwork> network_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_BACKEND_H_
