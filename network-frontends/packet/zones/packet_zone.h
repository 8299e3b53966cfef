// The part of a packet network that is in one zone.
//
// It is a whole packet network of which only the ports, buffers and queue pairs
// of its own nodes are used. A link to another zone is in both: the zone of its
// source decides what leaves, up to the end of a window, and hands it over;
// from then on the packets lie on the wire in both zones until they arrive,
// since an arrival is also when the port looks at what has left. A queue pair
// is in every zone that its packets pass: in one the sender, in another the
// receiver, in all of them the path.

#ifndef NETWORK_FRONTENDS_PACKET_ZONES_PACKET_ZONE_H_
#define NETWORK_FRONTENDS_PACKET_ZONES_PACKET_ZONE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/packet/packet_network.h"
#include "network-frontends/packet/zones/mailbox.h"
#include "network-frontends/packet/zones/zoning.h"
#include "network-frontends/zoned_network.h"

namespace astra {

class PacketZone final : public NetworkBackend {
 public:
  // `topology` and `zoning` must outlive the zone.
  PacketZone(const Topology& topology, const PacketOptions& options,
             const Zoning& zoning, ZoneId id);

  // The functions of NetworkBackend are for the driver of the zone. A message
  // comes from a node of the zone; what arrives is for a node of the zone, and
  // has the id that it was given where it was sent.
  TimePs now() const override { return network_->now(); }
  void Send(const Message& message) override;
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    network_->AdvanceTo(limit, arrived);
  }
  absl::Span<const double> link_bytes() const override {
    return network_->link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return network_->statistics();
  }

  // Fills the mailbox of each zone with what has happened since the last call
  // and concerns it. Returns an instant before which nothing happens in any
  // zone because of what is now in mailboxes or in this zone.
  TimePs HandOver(absl::Span<Mailbox> mailboxes);

  // Takes in what another zone has handed over.
  void TakeIn(const Mailbox& mailbox);

  // Returns the packets that have crossed a link to a node of the zone.
  uint64_t num_packet_hops() { return parts_.records.totals().num_packet_hops; }
  // Returns whether a packet was lost, which other zones would have to know of
  // at once.
  bool has_losses() { return parts_.records.totals().num_drops > 0; }

 private:
  ZoneId ZoneOf(NodeId node) const { return zoning_.zone_of[node.index()]; }
  void Announce(QueuePairId id);
  TimePs HandOverLink(LinkId link, Mailbox* mailbox);
  void NameQueuePair(Mailbox::Crossing* crossing, Mailbox* mailbox);
  void TakeIn(const Mailbox::Opened& opened);
  void TakeIn(const Mailbox::Sent& sent);
  void TakeIn(const Mailbox::Crossing& crossing,
              absl::Span<const TelemetrySlot> telemetry);
  void ForgetReceived(QueuePairId id);

  const Zoning& zoning_;
  const ZoneId id_;
  const std::unique_ptr<PacketNetwork> network_;
  const NetworkParts parts_;
  std::vector<LinkId> links_out_;     // Links to other zones.
  std::vector<QueuePairName> names_;  // By queue pair of this zone.
  // By home zone and number there: the queue pair in this zone, or kNoId.
  std::vector<std::vector<QueuePairId>> known_;
  std::vector<Mailbox> news_;  // By zone: what was opened and sent.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ZONES_PACKET_ZONE_H_
