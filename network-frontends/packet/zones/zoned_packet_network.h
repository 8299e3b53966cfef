// The packet network in zones, each simulated by a thread of its own; see
// zoned_network.h.
//
// A window has four steps. Each thread takes in what the other zones have
// handed over in the window before, lets its driver go on up to the end of the
// window, and hands over what concerns others. Then all wait for one another,
// and the last to come decides when the next window begins: where something
// happens next. There are two mailboxes from each zone to each other, in use
// by turns, so one meeting a window is enough. Threads share nothing else.

#ifndef NETWORK_FRONTENDS_PACKET_ZONES_ZONED_PACKET_NETWORK_H_
#define NETWORK_FRONTENDS_PACKET_ZONES_ZONED_PACKET_NETWORK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "network-frontends/packet/zones/mailbox.h"
#include "network-frontends/packet/zones/packet_zone.h"
#include "network-frontends/packet/zones/zoning.h"
#include "network-frontends/zoned_network.h"

namespace astra {

class ZonedPacketNetwork final : public ZonedNetwork {
 public:
  // `topology` must outlive the network. Requires CheckPacketOptions, and that
  // `zoning` was found for these.
  ZonedPacketNetwork(const Topology& topology, const PacketOptions& options,
                     Zoning zoning);

  uint32_t num_zones() const override { return zoning_.num_zones; }
  ZoneId ZoneOf(NodeId node) const override {
    return zoning_.zone_of[node.index()];
  }
  TimePs lookahead() const override { return zoning_.lookahead; }
  NetworkBackend& zone(ZoneId id) override { return *zones_[id.index()]; }
  absl::Status Run(absl::Span<ZoneDriver* const> drivers,
                   uint64_t num_messages) override;
  std::vector<double> link_bytes() override;
  const ZoneStatistics& statistics() const override { return statistics_; }

 private:
  // What a zone says of itself at the end of a window.
  struct alignas(64) Report {
    TimePs next;  // When something may happen next.
    uint64_t num_done = 0;
    uint64_t num_packet_hops = 0;  // In the window.
    bool needs_other_zone = false;
    bool has_losses = false;
  };
  enum class State : uint8_t {
    kRunning,
    kDone,
    kNeedsOtherZone,
    kHasLosses,
    kSilent,
  };

  std::vector<Mailbox>& MailFrom(size_t zone, uint64_t window) {
    return mail_[window % 2][zone];
  }
  void RunWindow(size_t zone, ZoneDriver& driver);
  void EndWindow(uint64_t num_messages);
  absl::Status Result() const;

  const Zoning zoning_;
  std::vector<std::unique_ptr<PacketZone>> zones_;
  // Of even and odd windows: from each zone, to each zone.
  std::array<std::vector<std::vector<Mailbox>>, 2> mail_;
  std::vector<Report> reports_;  // By zone.
  // Written only while all threads wait.
  TimePs window_end_;
  State state_ = State::kRunning;
  ZoneStatistics statistics_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ZONES_ZONED_PACKET_NETWORK_H_
