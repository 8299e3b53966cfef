// Paths of queue pairs to their targets and back, and properties of a path in
// an idle network.
//
// The links of a path are found once and lie in one array, by queue pair; a
// packet has the number of its next hop. A packet that has left the path of its
// queue pair, and switches that balance load, ask next_hops() instead.

#ifndef NETWORK_FRONTENDS_PACKET_PATHS_H_
#define NETWORK_FRONTENDS_PACKET_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/simai_hash.h"
#include "topology/next_hops.h"

namespace astra {

class Paths {
 public:
  // Both arguments must outlive the paths.
  Paths(const PacketSetup& setup, const Ports& ports);

  enum class Way : uint8_t { kThere, kBack };

  // Makes room for the paths of `count` queue pairs.
  void Resize(size_t count) {
    links_.resize(count * 2 * stride_, kNoId<LinkId>);
  }

  // Chooses the paths of `qp` there and back, over links that are up. Returns
  // false if one does not exist. Requires room for `id`.
  bool Choose(QueuePairId id, const QueuePair& qp);

  // Appends the links of one path of `qp`, over links that are up. Returns
  // false if there is none.
  bool Append(const QueuePair& qp, Way way, std::vector<LinkId>* path);

  // Returns the links of a path; kNoId follows the last.
  const LinkId* Find(QueuePairId id, Way way) const {
    return &links_[(size_t{id.index()} * 2 + static_cast<size_t>(way)) *
                   stride_];
  }
  const LinkId* FindHop(const Packet& packet) const {
    const Way way = packet.kind == PacketKind::kData ? Way::kThere : Way::kBack;
    return Find(packet.queue_pair, way) + packet.hop;
  }

  // Returns the link on which `packet` goes on along the path of its queue
  // pair. Returns kNoId at the end of the path, and if the packet has left it.
  // Requires a packet with a queue pair.
  LinkId Next(const Packet& packet) const {
    if (packet.has(Packet::kOwnWay) || packet.hop >= stride_) {
      return kNoId<LinkId>;
    }
    return *FindHop(packet);
  }

  // Returns whether each packet keeps to the path of its queue pair, which
  // never changes.
  bool are_kept() const { return are_kept_; }

  // Returns the properties of a path, there and back.
  PathProperties PropertiesOf(absl::Span<const LinkId> there,
                              absl::Span<const LinkId> back) const;
  PathProperties PropertiesOf(QueuePairId id) const {
    return PropertiesOf(LinksOf(id, Way::kThere), LinksOf(id, Way::kBack));
  }

  // Returns the largest window that the options allow on such a path.
  Bytes WindowCapOf(const PathProperties& path) const;
  // Returns the most that a queue pair with such a window ever has under way;
  // the largest number if there is no bound.
  Bytes MostUnderWay(Bytes window_cap) const;

  // Returns the time that the message would take alone.
  TimePs IdealOf(QueuePairId id, const MessageState& message) const;

  NextHops& next_hops() { return next_hops_; }
  TimePs network_rtt() const { return network_rtt_; }

 private:
  void SetUpWindow();
  bool ChooseOne(QueuePairId id, const QueuePair& qp, Way way);
  bool AppendSimaiPath(const SimaiFlow& flow, std::vector<LinkId>* path);
  void Restride(size_t stride);
  absl::Span<const LinkId> LinksOf(QueuePairId id, Way way) const;
  // Returns the time of a packet of `size` on link number `i` of `path`, until
  // the far end may pass it on.
  TimePs UntilForwarded(absl::Span<const LinkId> path, size_t i,
                        Bytes size) const;
  TimePs AckTime(absl::Span<const LinkId> back) const;

  const PacketSetup& setup_;
  const Ports& ports_;
  const bool are_kept_;
  NextHops next_hops_;
  TimePs network_rtt_;    // Largest round trip of the network.
  Bytes network_window_;  // Largest bandwidth-delay product of the network.
  // Links by queue pair: the path there, then the path back.
  std::vector<LinkId> links_;
  size_t stride_ = 8;  // Most links of a path, plus 1.
  std::vector<LinkId> scratch_path_;
  std::vector<LinkId> scratch_hops_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PATHS_H_
