#include "network-frontends/packet/receivers.h"

#include <utility>

namespace astra {

Receivers::Receivers(const PacketSetup& setup, const PacketEvents& events,
                     const Ports& ports, const Paths& paths,
                     TelemetrySlots& telemetry, QueuePairPool& queue_pairs,
                     const MessagePool& messages, Connections& connections,
                     Deliveries& deliveries, Departures& departures)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      telemetry_(telemetry),
      queue_pairs_(queue_pairs),
      messages_(messages),
      connections_(connections),
      deliveries_(deliveries),
      departures_(departures) {}

void Receivers::OnData(Packet& packet) {
  const QueuePairId id = packet.queue_pair;
  QueuePair& qp = queue_pairs_[id];
  --qp.in_network;
  if (packet.has(Packet::kMarked)) qp.has_mark = true;
  if (qp.receive_window == nullptr) {
    OnDataInOrder(id, packet);
  } else {
    OnDataInAnyOrder(id, packet);
  }
  telemetry_.Free(packet.telemetry);
}

// Go-back-N: drops packets that come after a gap. The sender is told once for
// each gap, and again after nack_interval.
void Receivers::OnDataInOrder(QueuePairId id, Packet& packet) {
  const NicOptions& nic = setup_.options.nic;
  QueuePair& qp = queue_pairs_[id];
  if (packet.number < qp.expected) return Reply(id, PacketKind::kAck, packet);
  if (packet.number > qp.expected) {
    if (qp.nacked == qp.expected &&
        events_.now() - qp.nack_time < nic.nack_interval) {
      return;
    }
    qp.nacked = qp.expected;
    qp.nack_time = events_.now();
    return Reply(id, PacketKind::kNack, packet);
  }
  qp.expected = Next(qp.expected);
  const bool is_last = DeliverMessages(id);
  const bool is_wanted = packet.has(Packet::kWantsAck);
  if (++qp.num_unacked >= nic.packets_per_ack || is_last || is_wanted) {
    Reply(id, PacketKind::kAck, packet);
  }
}

// Selective repeat: acknowledges each packet out of order by itself.
void Receivers::OnDataInAnyOrder(QueuePairId id, Packet& packet) {
  QueuePair& qp = queue_pairs_[id];
  const PacketNumber before = qp.expected;
  qp.expected = qp.receive_window->Insert(packet.number, before);
  const bool is_last = qp.expected != before && DeliverMessages(id);
  const bool is_in_order = qp.expected == Next(before);
  const bool is_wanted = packet.has(Packet::kWantsAck);
  if (is_in_order && ++qp.num_unacked < setup_.options.nic.packets_per_ack &&
      !is_last && !is_wanted) {
    return;
  }
  if (packet.number >= qp.expected) {
    if (packet.telemetry == kNoId<TelemetryId>) {
      packet.telemetry = telemetry_.Take();
    }
    telemetry_[packet.telemetry].arrived = packet.number;
  }
  Reply(id, PacketKind::kAck, packet);
}

// Delivers the messages whose last packet is there. Returns whether there were
// any.
bool Receivers::DeliverMessages(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  bool has_any = false;
  while (qp.receiving != kNoId<MessageSlot> &&
         messages_[qp.receiving].end() <= qp.expected) {
    const MessageState& message = messages_[qp.receiving];
    if (setup_.options.nic.completion == Completion::kDelivered) {
      deliveries_.Finish(id, qp, message);
    }
    qp.receiving = message.next;
    has_any = true;
  }
  return has_any;
}

// Sends the receiver's state back to the sender, with the telemetry of the
// packet that it answers.
void Receivers::Reply(QueuePairId id, PacketKind kind, Packet& to) {
  QueuePair& qp = queue_pairs_[id];
  Packet packet{.time = events_.now(),
                .queue_pair = id,
                .number = qp.expected,
                .telemetry = std::exchange(to.telemetry, kNoId<TelemetryId>),
                .bytes = static_cast<uint16_t>(setup_.ack.count()),
                .kind = kind};
  if (std::exchange(qp.has_mark, false)) packet.flags = Packet::kMarked;
  qp.num_unacked = 0;
  ++qp.in_network;
  const LinkId link = *paths_.Find(id, Paths::Way::kBack);
  if (ports_[link].is_down) return connections_.Discard(packet);
  departures_.Transmit(link, departures_.ClassOf(kind), packet);
}

}  // namespace astra
