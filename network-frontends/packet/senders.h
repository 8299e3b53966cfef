// Queue pairs as senders: which packet each sends next, and the effects of
// acknowledgements, timers and timeouts.
//
// Messages are cut into packets as the port is free to send them. Congestion
// control sets a rate and a window; the NIC has a window of its own. Packets
// are acknowledged up to the first that the receiver lacks and, with selective
// repeat, each by itself. Go-back-N sends everything from a gap on again,
// selective repeat only what was lost.
//
// Functions that change a queue pair require that its port has been advanced
// (Departures::AdvanceSender), and Departures::Wake must follow.

#ifndef NETWORK_FRONTENDS_PACKET_SENDERS_H_
#define NETWORK_FRONTENDS_PACKET_SENDERS_H_

#include <algorithm>
#include <cstdint>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/deliveries.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/telemetry.h"

namespace astra {

class Senders {
 public:
  // All arguments must outlive the senders.
  Senders(const PacketSetup& setup, PacketEvents& events, PortArray ports,
          const Paths& paths, TelemetrySlots& telemetry,
          QueuePairPool& queue_pairs, MessagePool& messages, Nics& nics,
          Deliveries& deliveries, Records& records);

  // Starts congestion control of a queue pair, if it has a path.
  void StartControl(QueuePairId id);

  // Appends a message to those that the queue pair has to send. `state` tells
  // its order, and whether it is background.
  void Enqueue(QueuePairId id, const Message& message, MessageState state);

  // Returns whether the queue pair has a packet that its window allows.
  bool CanSend(const QueuePair& qp) const {
    if (qp.link == kNoId<LinkId> || qp.has_given_up) return false;
    PacketNumber lost;
    const bool has_packet =
        qp.next < qp.end ||
        (qp.send_window != nullptr && qp.send_window->PeekLost(&lost));
    return has_packet && (qp.flying == Bytes() || qp.flying < WindowOf(qp));
  }

  // Returns the queue pair that sends next on `link` when its port is free, or
  // kNoId. Requires that MakePacket and AfterSending follow.
  QueuePairId NextTurn(LinkId link, const Port& port);

  // Makes the next packet of the queue pair, which begins to leave at `start`.
  void MakePacket(QueuePairId id, TimePs start, Packet& packet);

  // Notes that a packet of `size` has begun to leave `port` at `start`, and
  // takes the next turn.
  void AfterSending(QueuePairId id, TimePs start, Bytes size, const Port& port);

  // Handles an acknowledgement.
  void OnAck(const Packet& packet);

  // Returns whether the event of congestion control's timer is not stale.
  bool IsTimerDue(QueuePairId id) const;
  void OnTimer(QueuePairId id);

  // Returns whether nothing has been acknowledged for too long; the timer is
  // then no longer pending. Ports need not be brought up to now for that, and
  // should not: when the timer is looked at depends on messages that are long
  // gone.
  bool TakeTimeout(QueuePairId id);
  // Handles what TakeTimeout() has found. Returns whether there are packets to
  // be sent again, so that Departures::Wake must follow.
  bool OnTimeout(QueuePairId id);

  // Returns when OnTimeout() last gave a queue pair up; 0 if it never has.
  TimePs last_give_up() const { return last_give_up_; }

  // Counts the time from one packet to the next, as the last of the queue pair
  // has it, for so many packets.
  void CountPace(const QueuePair& qp, const Port& port, int64_t packets = 1);

 private:
  // The statistics count a sender as slow below line rate / kSlowFactor.
  static constexpr int64_t kSlowFactor = 100;

  Bytes WindowOf(const QueuePair& qp) const {
    const Bytes cap = window_follows_rate_ ? WindowCapOf(qp) : qp.window_cap;
    return std::min(cap, Bytes(qp.limits.window_bytes));
  }
  Bytes WindowCapOf(const QueuePair& qp) const;
  MessageSlot MessageOf(const QueuePair& qp, PacketNumber packet) const;
  Bytes PayloadOf(const MessageState& message, PacketNumber packet) const {
    return Next(packet) == message.end() ? Bytes(message.last_payload)
                                         : setup_.payload;
  }
  Bytes PayloadOf(const QueuePair& qp, PacketNumber packet) const {
    return PayloadOf(messages_[MessageOf(qp, packet)], packet);
  }
  TimePs NextSendAfter(const QueuePair& qp) const;
  void AfterControl(QueuePairId id);
  void PaceAnew(QueuePair& qp);
  Bytes AckUpTo(QueuePairId id, PacketNumber packet);
  Bytes AckEach(QueuePair& qp, PacketNumber packet);
  Bytes CompleteMessages(QueuePairId id);
  Bytes AckSelectively(QueuePair& qp, PacketNumber packet);
  bool FindLosses(QueuePair& qp, const Packet& packet);
  bool FindLost(QueuePair& qp);
  bool HasGoneBack(const QueuePair& qp) const;
  void GoBack(QueuePair& qp);
  void LoseAll(QueuePair& qp);
  TimePs PatienceOf(const QueuePair& qp) const;
  void ArmTimeout(QueuePairId id);

  const PacketSetup& setup_;
  PacketEvents& events_;
  const PortArray ports_;
  const Paths& paths_;
  TelemetrySlots& telemetry_;
  QueuePairPool& queue_pairs_;
  MessagePool& messages_;
  Nics& nics_;
  Deliveries& deliveries_;
  Records& records_;
  CongestionControl& control_;
  const bool paces_anew_;  // CongestionControl::paces_anew().
  const bool pace_follows_rate_;
  const bool window_follows_rate_;
  TimePs last_give_up_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_SENDERS_H_
