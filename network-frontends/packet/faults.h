// Link events: links that go down, come up or change their rate, and what that
// does to the packets on them and to the queue pairs that used them.

#ifndef NETWORK_FRONTENDS_PACKET_FAULTS_H_
#define NETWORK_FRONTENDS_PACKET_FAULTS_H_

#include "astra-core/base/ids.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/forwarding.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/senders.h"
#include "network-frontends/packet/switch_buffers.h"

namespace astra {

class Faults {
 public:
  // All arguments must outlive the faults.
  Faults(const PacketSetup& setup, PacketEvents& events, Ports& ports,
         Paths& paths, SwitchBuffers& buffers, const QueuePairPool& queue_pairs,
         Connections& connections, Senders& senders, Departures& departures,
         Forwarding& forwarding);

  // Changes the rate of all cables between two nodes, and reroutes at once if
  // nothing delays it.
  void OnLinkChange(LinkEventId id);

  // Queue pairs that lost their path look for another, and so do those that had
  // none.
  void Reroute(LinkEventId id);

 private:
  template <class Visitor>
  void ForEachLinkOf(const LinkEvent& event, Visitor visit) const;
  void SetRate(LinkId link, double factor);
  void LosePackets(Port& port);

  const PacketSetup& setup_;
  PacketEvents& events_;
  Ports& ports_;
  Paths& paths_;
  SwitchBuffers& buffers_;
  const QueuePairPool& queue_pairs_;
  Connections& connections_;
  Senders& senders_;
  Departures& departures_;
  Forwarding& forwarding_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_FAULTS_H_
