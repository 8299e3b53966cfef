// Skips packets within messages where all goes on as it has gone before.
//
// The queue pairs that send fall into islands (island.h): those that share
// links, directly or through others. An island is watched for a while. Once it
// is as it was before, it stops: nothing happens there any more until a message
// is about to end, and what was skipped is then counted. If another message
// comes to one of its links earlier, the island goes on from there: by as many
// periods as have passed, and for the rest packet by packet. Nothing that is
// measured differs.
//
// Islands that share a switch share its memory. So while an island has stopped,
// the most that it may hold is set aside. Where another packet might then find
// no room, all islands first go on.
//
//   islands.Begin(0);             // Otherwise nothing is skipped.
//   islands.BeforeSend(id);       // A message is given to a queue pair,
//   islands.BeforeTouching(id);   // or a timer of one runs out.
//   islands.OnAck(id);            // Of a queue pair that is_watched.
//   if (num_events >= islands.due()) islands.AfterEvent(num_events);
//   islands.CatchUp();            // Before all that looks at many ports.

#ifndef NETWORK_FRONTENDS_PACKET_ISLANDS_H_
#define NETWORK_FRONTENDS_PACKET_ISLANDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/agenda.h"
#include "network-frontends/packet/island.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/queue_pair.h"

namespace astra {

class Islands {
 public:
  // Lets an event happen.
  using Happen = std::function<void(const Agenda::Entry&)>;

  // All that `parts` refers to must outlive the object. Requires that queue
  // pairs keep their paths.
  Islands(const NetworkParts& parts, const Happen& happen);

  // Begins to skip packets, with a tolerance that may be changed later: a share
  // of the time that messages take. If it is not 0, an island is also taken to
  // be as it was before if all its queue pairs keep their rates within it.
  void Begin(double tolerance);

  // Number of events from which on AfterEvent() is to be called after each.
  uint64_t due() const { return due_; }
  void AfterEvent(uint64_t num_events);

  void BeforeSend(QueuePairId id);
  // The port where a queue pair sends is about to be advanced, though the queue
  // pair may send nothing.
  void BeforeTouching(QueuePairId id);
  void OnAck(QueuePairId id) {
    acked_.push_back(id);
    due_ = 0;
  }
  // Handles the event of an island.
  void OnWake(IslandId id);

  // Lets all islands go on that have stopped, up to what happens now.
  void CatchUp();

  // Returns how many islands, at most, may have held memory at once though they
  // were not simulated together, since the last call; at least 1.
  int64_t TakeMostTogether() { return std::exchange(most_together_, 1); }

  // Returns whether the link is part of an island that has stopped.
  bool HasStopped(LinkId link) const {
    const IslandId id =
        islands_of_.empty() ? kNoId<IslandId> : islands_of_[link.index()];
    return id != kNoId<IslandId> && slots_[id.index()].has_stopped();
  }

 private:
  static constexpr uint64_t kNotDue = std::numeric_limits<uint64_t>::max();

  // An island that is watched, or has stopped.
  struct Slot {
    std::unique_ptr<Island> island;  // None: the slot is free.
    QueuePairId sender;  // The island is looked at when it is acknowledged.
    std::optional<Island::Look> before;
    std::optional<Island::Look> earlier;  // The look before that.
    uint32_t num_looks = 0;
    // Once it has stopped:
    Island::Look now;
    uint32_t key = 0;   // Of the event after which that was.
    int64_t times = 0;  // How often the period can come again.
    std::vector<Island::Hold> holds;
    TimePs wake = kNever;

    bool has_stopped() const { return wake != kNever; }
  };
  // When a queue pair may be watched again, in events.
  struct Patience {
    uint64_t until = 0;
    uint32_t factor = 1;
  };
  // Memory that is set aside at a switch.
  struct Reserve {
    int64_t more_bytes = 0;
    std::multiset<int64_t> largest_bytes;
  };

  void Scan(uint64_t num_events);
  uint64_t DropIdle();
  void Watch(std::vector<QueuePairId> queue_pairs, uint64_t num_events);
  void LookAt(IslandId id, uint64_t num_events);
  bool IsAsBefore(const Slot& slot, const Island::Look& now,
                  bool is_last) const;
  void BePatient(const Slot& slot, uint64_t num_events);
  bool TryToStop(Slot& slot, Island::Look now);
  bool TakeHolds(const std::vector<Island::Hold>& holds);
  void Release(const Island::Hold& hold);
  void SetAside(SwitchId at);
  void CatchUp(absl::Span<const Agenda::Entry> pending);
  void GoOn(IslandId id, std::vector<Agenda::Entry>* pending);
  void Forget(IslandId id);
  template <class Visit>
  void ForEachLink(QueuePairId id, const Visit& visit) const;

  NetworkParts parts_;
  const Happen happen_;
  int64_t num_stopped_ = 0;  // Islands.
  size_t num_queue_pairs_stopped_ = 0;
  int64_t most_together_ = 1;
  uint64_t due_ = kNotDue;
  double tolerance_ = 0;
  uint32_t most_looks_ = 0;
  uint64_t next_scan_ = 0;
  std::vector<QueuePairId> acked_;   // Watched, and acknowledged just now.
  std::vector<QueuePairId> active_;  // All that send, and some that have.
  std::vector<bool> is_active_;      // By queue pair.
  std::vector<Patience> patience_;   // By queue pair.
  std::vector<Slot> slots_;
  std::vector<IslandId> free_;
  std::vector<IslandId> islands_of_;  // By link.
  std::vector<Reserve> reserves_;     // By switch.
  // Scratch of Scan(): which of `active_` was last seen on a link, as `first`
  // plus its position.
  std::vector<uint64_t> seen_;
  uint64_t first_ = 1;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ISLANDS_H_
