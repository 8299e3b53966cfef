// Skips packets within messages.
//
// While no message ends, a network whose queue pairs send without a break does
// the same again and again: some packets of each queue pair later, all that
// waits and is on links is as it was. Then so is all that follows, until a
// message comes to its end. This class compares the states of a network at the
// acknowledgements of one queue pair; once a state recurs, it counts what comes
// between as often as the messages allow, moves the clock, and lets the network
// go on from there. Nothing that is measured afterwards differs.
//
//   PhaseSkipper skipper(parts, advance);
//   skipper.Begin(links);
//   skipper.AdvanceTo(limit, &arrived);  // In place of advance().
//
// For networks on which nothing happens but what sends now: all that is pending
// moves with the clock.

#ifndef NETWORK_FRONTENDS_PACKET_PHASE_SKIPPER_H_
#define NETWORK_FRONTENDS_PACKET_PHASE_SKIPPER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/replay_support.h"
#include "topology/topology.h"

namespace astra {

class PhaseSkipper {
 public:
  // Goes on up to an instant, or to the first at which messages arrive, and
  // appends these.
  using Advance = std::function<void(TimePs, std::vector<MessageId>*)>;

  // All that `parts` refers to must outlive the object.
  PhaseSkipper(const NetworkParts& parts, const Advance& advance)
      : parts_(parts), advance_(advance) {}

  // From now on only `links` carry anything.
  void Begin(absl::Span<const LinkId> links);

  // As Advance.
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived);

 private:
  // How it was at an instant.
  struct Look {
    uint64_t state = 0;
    TimePs time;
    std::vector<PacketNumber> acked;  // By queue pair.
    // By queue pair: how many packets it can send until it matters where its
    // message ends.
    std::vector<uint32_t> left;
    std::vector<LinkTraffic> traffic;  // By link.
    uint64_t num_data_packets = 0;
    uint64_t num_packet_hops = 0;
    TimePs sending;
    TimePs sending_slowly;
  };

  bool TryToSkip(TimePs limit, std::vector<MessageId>* arrived);
  std::optional<QueuePairId> FindSteadySender() const;
  bool AdvanceToAck(QueuePairId id, TimePs limit,
                    std::vector<MessageId>* arrived);
  Look TakeLook();
  int64_t TimesWithin(const Look& before, const Look& now, TimePs limit) const;
  void Skip(const Look& before, const Look& now, int64_t times);
  void MovePackets(const Look& before, const Look& now, int64_t times);
  void CountTraffic(const Look& before, const Look& now, int64_t times);

  const NetworkParts parts_;
  const Advance advance_;
  std::vector<LinkId> links_;
  TimePs shortest_wait_;  // Without arrivals, before looking at states.
  TimePs wait_;           // The same, after looks that were of no use.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PHASE_SKIPPER_H_
