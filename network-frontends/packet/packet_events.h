// The clock of the packet network and its pending events, each by kind and by
// the id of what it happens to.
//
// Events are never removed. The part that an event belongs to remembers the
// instant it waits for and ignores events of other instants.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/agenda.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

// Kinds of events. Events of one instant happen in this order.
enum class EventKind : uint32_t {
  kLinkChange,  // Id: LinkEventId. The rate of links changes.
  kReroute,     // Id: LinkEventId. Its change is known to all.
  kLink,        // Id: LinkId. A packet arrives, or one may leave.
  kTimer,       // Id: QueuePairId. The timer of congestion control.
  kTimeout,     // Id: QueuePairId. The retransmission timer.
  kBackground,  // Id: BackgroundId. The next background message.
  kWake,        // Id: IslandId. A message of the island is about to end.
};

using LinkEventId = Id<struct LinkEventTag>;    // Index into PacketOptions.
using BackgroundId = Id<struct BackgroundTag>;  // Index into PacketOptions.
using IslandId = Id<struct IslandTag>;          // Index into Islands.

class PacketEvents {
 public:
  // Number of links, and of queue pairs, for which keys have room.
  static constexpr uint64_t kMaxIds = uint64_t{1} << 28;

  TimePs now() const { return now_; }
  // All events up to `now` have happened.
  void set_now(TimePs now) {
    now_ = now;
    key_ = kLast;
  }
  // What happens now, among the events of this instant.
  uint32_t key() const { return key_; }
  // An event happens, and no other of its instant that comes after it has.
  void Begin(const Agenda::Entry& event) {
    now_ = TimePs(event.time_ps);
    key_ = event.key;
  }

  void PushWake(TimePs time, IslandId id) {
    Push(time, EventKind::kWake, id.index());
  }
  void PushLinkChange(TimePs time, LinkEventId id) {
    Push(time, EventKind::kLinkChange, id.index());
  }
  void PushReroute(TimePs time, LinkEventId id) {
    Push(time, EventKind::kReroute, id.index());
  }
  void PushLink(TimePs time, LinkId id) {
    Push(time, EventKind::kLink, id.index());
  }
  void PushTimer(TimePs time, QueuePairId id) {
    Push(time, EventKind::kTimer, id.index());
  }
  void PushTimeout(TimePs time, QueuePairId id) {
    Push(time, EventKind::kTimeout, id.index());
  }
  void PushBackground(TimePs time, BackgroundId id) {
    Push(time, EventKind::kBackground, id.index());
  }

  static Agenda::Entry LinkAt(TimePs time, LinkId id) {
    return {time.count(), KeyOf(EventKind::kLink, id.index())};
  }
  static Agenda::Entry TimeoutAt(TimePs time, QueuePairId id) {
    return {time.count(), KeyOf(EventKind::kTimeout, id.index())};
  }

  // Sets the clock back to `time`; what is pending waits until Return(). What
  // is pushed in between and not yet due then is pending, too.
  void GoBackTo(TimePs time) {
    present_ = std::exchange(agenda_, Agenda());
    set_now(time);
  }
  void Return() { agenda_ = WithPending(std::exchange(present_, Agenda())); }

  // Lets the events of `pending`, which are late, happen in order, and those
  // that follow from them, up to what happens now. The rest becomes pending.
  template <class Happen>
  void CatchUp(absl::Span<const Agenda::Entry> pending, const Happen& happen) {
    const Agenda::Entry until = {now_.count(), key_};
    Agenda others = std::exchange(agenda_, Agenda());
    for (const Agenda::Entry& event : pending) {
      agenda_.Push(event.time_ps, event.key);
    }
    while (!agenda_.empty() && agenda_.next() <= until) {
      const Agenda::Entry event = agenda_.next();
      agenda_.Pop();
      happen(event);
    }
    Begin(until);
    agenda_ = WithPending(std::move(others));
  }

  Agenda& agenda() { return agenda_; }
  const Agenda& agenda() const { return agenda_; }

  static EventKind KindOf(uint32_t key) {
    return static_cast<EventKind>(key >> kIndexBits);
  }
  // Returns the id of what the event happens to. Requires the id's type to be
  // that of KindOf(key).
  template <class AnId>
  static AnId IdOf(uint32_t key) {
    return AnId(key & (kMaxIds - 1));
  }

 private:
  static constexpr uint32_t kIndexBits = 28;
  static_assert(kMaxIds == uint64_t{1} << kIndexBits);

  static uint32_t KeyOf(EventKind kind, uint32_t index) {
    return static_cast<uint32_t>(kind) << kIndexBits | index;
  }
  void Push(TimePs time, EventKind kind, uint32_t index) {
    agenda_.Push(time.count(), KeyOf(kind, index));
  }
  // Returns `others` with all that is pending.
  Agenda WithPending(Agenda others) {
    while (!agenda_.empty()) {
      const Agenda::Entry entry = agenda_.next();
      agenda_.Pop();
      others.Push(entry.time_ps, entry.key);
    }
    return others;
  }

  static constexpr uint32_t kLast = UINT32_MAX;

  TimePs now_;
  uint32_t key_ = kLast;  // Of what happens, or of what happened last.
  Agenda agenda_;
  Agenda present_;  // Between GoBackTo() and Return().
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_
