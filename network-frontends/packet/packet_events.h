// The clock of the packet network and its pending events, each by kind and by
// the id of what it happens to.
//
// Events are never removed. The part that an event belongs to remembers the
// instant it waits for and ignores events of other instants.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_

#include <cstdint>
#include <utility>

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
};

using LinkEventId = Id<struct LinkEventTag>;    // Index into PacketOptions.
using BackgroundId = Id<struct BackgroundTag>;  // Index into PacketOptions.

class PacketEvents {
 public:
  // Number of links, and of queue pairs, for which keys have room.
  static constexpr uint64_t kMaxIds = uint64_t{1} << 28;

  TimePs now() const { return now_; }
  void set_now(TimePs now) { now_ = now; }

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

  // Sets the clock back to `time`; what is pending waits until Return(). What
  // is pushed in between and not yet due then is pending, too.
  void GoBackTo(TimePs time) {
    present_ = std::exchange(agenda_, Agenda());
    now_ = time;
  }
  void Return() {
    while (!agenda_.empty()) {
      const Agenda::Entry entry = agenda_.next();
      agenda_.Pop();
      present_.Push(entry.time_ps, entry.key);
    }
    agenda_ = std::exchange(present_, Agenda());
  }

  // Sets the clock forward, and all that is pending with it.
  void MoveOn(TimePs by) {
    Agenda later;
    while (!agenda_.empty()) {
      const Agenda::Entry entry = agenda_.next();
      agenda_.Pop();
      later.Push(entry.time_ps + by.count(), entry.key);
    }
    agenda_ = std::move(later);
    now_ += by;
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

  void Push(TimePs time, EventKind kind, uint32_t index) {
    agenda_.Push(time.count(),
                 static_cast<uint32_t>(kind) << kIndexBits | index);
  }

  TimePs now_;
  Agenda agenda_;
  Agenda present_;  // Between GoBackTo() and Return().
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_EVENTS_H_
