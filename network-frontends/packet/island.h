// An island: queue pairs that share links with one another and with nothing
// else, so that its packets go their own way until another message comes.
//
// While no message ends, an island repeats itself: some packets of each queue
// pair later, all that waits and all that is on links is as it was. From then
// on the same follows again and again until a message comes to its end. This
// class takes the state of an island (TakeLook), tells how often the period
// between two equal states fits into the messages (TimesUntilEnd), and moves
// the island on by so many periods (Stop, GoOn).

#ifndef NETWORK_FRONTENDS_PACKET_ISLAND_H_
#define NETWORK_FRONTENDS_PACKET_ISLAND_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/agenda.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/replay_support.h"

namespace astra {

class Island {
 public:
  // The state of an island at an instant. Lists are in the order of
  // queue_pairs() and links().
  struct Look {
    uint64_t state = 0;  // A hash; times in it count from `time`.
    TimePs time;
    std::vector<PacketNumber> acked;
    // How many packets each queue pair can send before the end of its message
    // makes a difference.
    std::vector<uint32_t> left;
    std::vector<LinkTraffic> traffic;
    std::vector<Bytes> queued;
  };
  // The memory of a switch that an island may come to hold.
  struct Hold {
    SwitchId at;
    int64_t more_bytes = 0;     // In all, beyond what it holds now.
    int64_t largest_bytes = 0;  // Of one incoming link, or one outgoing.
  };

  // `queue_pairs` have packets to send or under way, and `links` are those of
  // their paths, each once. All that `parts` refers to must outlive the object.
  Island(const NetworkParts& parts, std::vector<QueuePairId> queue_pairs,
         std::vector<LinkId> links);

  absl::Span<const QueuePairId> queue_pairs() const { return queue_pairs_; }
  absl::Span<const LinkId> links() const { return links_; }

  // Returns the queue pair that can go on longest if all can for long enough
  // and nothing but acknowledgements and departures happens: no timer runs, no
  // port is paused, and congestion control is at rest. Otherwise kNoId.
  QueuePairId FindSteadySender() const;

  // Returns the memory that the island may hold at switches if what it has done
  // since an earlier look comes again.
  std::vector<Hold> Holds() const;

  // Returns the state. It leaves out what FindSteadySender() has found at rest,
  // mere counts, and how far a queue pair is within its message.
  Look TakeLook() const;

  // Returns whether queue pairs have kept their rates and queues their lengths,
  // each up to a packet. The watched queue pair has had twice as many packets
  // acknowledged from `second` to `third` as from `first` to `second`.
  static bool IsSteady(const Look& first, const Look& second, const Look& third,
                       Bytes packet);

  // Returns how often the period between two looks can come again after the
  // second before a message ends.
  static int64_t TimesUntilEnd(const Look& before, const Look& now);

  // Takes the pending events of the island out of the network, until GoOn().
  void Stop();

  // Moves an island, which stopped at the look `now`, on by so many periods.
  // Returns its pending events, which the caller must let happen.
  std::vector<Agenda::Entry> GoOn(const Look& before, const Look& now,
                                  int64_t times);

 private:
  QueuePair& At(size_t i) const { return parts_.queue_pairs[queue_pairs_[i]]; }
  void MovePackets(const Look& before, const Look& now, int64_t times);
  void Count(const Look& before, const Look& now, int64_t times);

  NetworkParts parts_;
  std::vector<QueuePairId> queue_pairs_;  // By increasing id.
  std::vector<LinkId> links_;             // By increasing id.
  // Pending events of the links and of the queue pairs while it has stopped.
  std::vector<TimePs> events_;
  std::vector<TimePs> timeouts_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ISLAND_H_
