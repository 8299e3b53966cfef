// Queue pairs as receivers: data that arrives, and acknowledgements of it.

#include <utility>

#include "network-frontends/packet/packet_network.h"

namespace astra {

void PacketNetwork::OnData(Packet& packet) {
  const uint32_t id = packet.queue_pair;
  QueuePair& qp = queue_pairs_[id];
  --qp.in_network;
  if ((packet.flags & Packet::kMarked) != 0) qp.has_mark = true;
  if (qp.receive_window == nullptr) {
    OnDataInOrder(id, packet);
  } else {
    OnDataInAnyOrder(id, packet);
  }
  if (packet.telemetry != kNone) free_telemetry_.push_back(packet.telemetry);
}

// Go-back-N: drops packets that come after a gap. The sender is told once for
// each gap, and again after nack_interval.
void PacketNetwork::OnDataInOrder(uint32_t id, Packet& packet) {
  QueuePair& qp = queue_pairs_[id];
  if (packet.sequence < qp.expected) return Reply(id, PacketKind::kAck, packet);
  if (packet.sequence > qp.expected) {
    if (qp.nacked == qp.expected &&
        now_ps_ - qp.nack_ps < options_.nic.nack_interval.count()) {
      return;
    }
    qp.nacked = qp.expected;
    qp.nack_ps = now_ps_;
    return Reply(id, PacketKind::kNack, packet);
  }
  ++qp.expected;
  const bool is_last = DeliverMessages(id);
  const bool is_wanted = (packet.flags & Packet::kWantsAck) != 0;
  if (++qp.num_unacked >= options_.nic.packets_per_ack || is_last ||
      is_wanted) {
    Reply(id, PacketKind::kAck, packet);
  }
}

// Selective repeat: acknowledges each packet out of order by itself.
void PacketNetwork::OnDataInAnyOrder(uint32_t id, Packet& packet) {
  QueuePair& qp = queue_pairs_[id];
  const uint32_t before = qp.expected;
  qp.expected = qp.receive_window->Insert(packet.sequence, before);
  const bool is_last = qp.expected != before && DeliverMessages(id);
  const bool is_in_order = qp.expected == before + 1;
  const bool is_wanted = (packet.flags & Packet::kWantsAck) != 0;
  if (is_in_order && ++qp.num_unacked < options_.nic.packets_per_ack &&
      !is_last && !is_wanted) {
    return;
  }
  if (packet.sequence >= qp.expected) {
    if (packet.telemetry == kNone) packet.telemetry = NewTelemetry();
    telemetry_[packet.telemetry].arrived = packet.sequence;
  }
  Reply(id, PacketKind::kAck, packet);
}

// Delivers the messages whose last packet is there. Returns whether there were
// any.
bool PacketNetwork::DeliverMessages(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  bool has_any = false;
  while (qp.receiving != kNone &&
         messages_[qp.receiving].end() <= qp.expected) {
    const MessageState& message = messages_[qp.receiving];
    if (options_.nic.completion == Completion::kDelivered) {
      Finish(id, message);
    }
    qp.receiving = message.next;
    has_any = true;
  }
  return has_any;
}

// Sends the receiver's state back to the sender, with the telemetry of the
// packet that it answers.
void PacketNetwork::Reply(uint32_t id, PacketKind kind, Packet& to) {
  QueuePair& qp = queue_pairs_[id];
  Packet packet{.time_ps = now_ps_,
                .queue_pair = id,
                .sequence = qp.expected,
                .telemetry = std::exchange(to.telemetry, kNone),
                .bytes = static_cast<uint16_t>(ack_bytes_),
                .hop = 1,
                .kind = kind};
  if (std::exchange(qp.has_mark, false)) packet.flags = Packet::kMarked;
  qp.num_unacked = 0;
  ++qp.in_network;
  const uint32_t link = PathOf(id, true)[0];
  if (ports_[link].rate_bps == 0) return Discard(packet);
  Transmit(link, AckClass(), packet);
}

}  // namespace astra
