// Queue pairs as senders: cutting messages into packets, turns at the NIC, and
// the effects of acknowledgements and timeouts.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "network-frontends/packet/packet_network.h"

namespace astra {

void PacketNetwork::Send(const Message& message) {
  ++num_in_flight_;
  const uint32_t qp = ConnectionOf(message);
  MessageState state;
  state.id = message.id;
  state.bytes = message.bytes.count();
  state.start_ps = now_ps_;
  // Messages of one queue pair arrive in order without an Order.
  if (options_.nic.queue_pairs == QueuePairs::kPerMessage) {
    state.order = OrderOf(message);
    state.number = orders_[state.order].num_sent++;
  }
  Enqueue(qp, state);
  FinishEvent();
}

uint32_t PacketNetwork::OrderOf(const Message& message) {
  const uint64_t ends =
      uint64_t{message.source.index()} << 32 | message.target.index();
  const auto [found, is_new] = order_of_.try_emplace(
      {ends, message.channel}, static_cast<uint32_t>(orders_.size()));
  if (is_new) orders_.emplace_back();
  return found->second;
}

int64_t PacketNetwork::WindowOf(const QueuePair& qp) const {
  int64_t cap = qp.window_cap_bytes;
  if (options_.nic.window_follows_rate && cap != kNever) {
    const double share = static_cast<double>(qp.limits.rate.count()) /
                         static_cast<double>(ports_[qp.link].nominal_bps);
    cap = std::max<int64_t>(
        1, std::llround(std::min(share, 1.0) * static_cast<double>(cap)));
  }
  return std::min(cap, qp.limits.window_bytes);
}

void PacketNetwork::Enqueue(uint32_t id, MessageState message) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.link != kNone) Advance(qp.link);  // Without the message.
  const int64_t payload = payload_bytes_;
  const int64_t num_packets =
      std::max<int64_t>(1, (message.bytes + payload - 1) / payload);
  ASTRA_CHECK(num_packets < kNone - qp.end, "{} packets of one queue pair",
              num_packets + qp.end);
  message.first = qp.end;
  message.num_packets = static_cast<uint32_t>(num_packets);
  message.last_payload =
      static_cast<uint32_t>(message.bytes - (num_packets - 1) * payload);
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const uint32_t slot = free_messages_.back();
  free_messages_.pop_back();
  messages_[slot] = message;
  if (qp.oldest == kNone) {
    qp.oldest = slot;
  } else {
    messages_[qp.newest].next = slot;
  }
  qp.newest = slot;
  if (qp.sending == kNone) qp.sending = slot;
  if (qp.receiving == kNone) qp.receiving = slot;
  qp.end += message.num_packets;
  MakeReady(id);
}

bool PacketNetwork::HasToSend(QueuePair& qp) const {
  if (qp.link == kNone || qp.has_given_up) return false;
  uint32_t lost = 0;
  const bool has_packet = qp.next < qp.end || (qp.send_window != nullptr &&
                                               qp.send_window->PeekLost(&lost));
  return has_packet && (qp.flying_bytes == 0 || qp.flying_bytes < WindowOf(qp));
}

// Queues the queue pair for its turn, if it may send.
void PacketNetwork::MakeReady(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.turn != QueuePair::Turn::kNone || !HasToSend(qp)) return;
  const uint32_t link = qp.link;
  Advance(link);
  TakeTurn(id);
  if (ports_[link].busy_until_ps <= now_ps_) Advance(link);
  Arm(link);
}

void PacketNetwork::TakeTurn(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  const Port& port = ports_[qp.link];
  Nic& nic = nics_[port.nic];
  if (qp.next_send_ps <= port.busy_until_ps) {
    qp.turn = QueuePair::Turn::kReady;
    nic.turns.SetReady(qp.nic_slot, true);
    return;
  }
  qp.turn = QueuePair::Turn::kPaced;
  nic.turns.SetReady(qp.nic_slot, false);
  nic.paced.emplace_back(qp.next_send_ps, id);
  std::push_heap(nic.paced.begin(), nic.paced.end(), std::greater<>());
}

// Sends a packet of the queue pair whose turn it is; returns false if none may
// send.
bool PacketNetwork::StartFromNic(uint32_t link, Port& port) {
  Nic& nic = nics_[port.nic];
  while (!nic.paced.empty() && nic.paced.front().first <= port.busy_until_ps) {
    const auto [time_ps, id] = nic.paced.front();
    std::pop_heap(nic.paced.begin(), nic.paced.end(), std::greater<>());
    nic.paced.pop_back();
    QueuePair& qp = queue_pairs_[id];
    // The entry is stale if its queue pair has left or moved.
    if (qp.turn != QueuePair::Turn::kPaced || qp.link != link ||
        qp.next_send_ps != time_ps) {
      continue;
    }
    qp.turn = QueuePair::Turn::kReady;
    nic.turns.SetReady(qp.nic_slot, true);
  }
  while (nic.turns.has_ready()) {
    const uint32_t id = nic.turns.Next();
    QueuePair& qp = queue_pairs_[id];
    if (HasToSend(qp)) {
      SendPacket(id, link, port);
      return true;
    }
    // Its window may have shrunk since it became ready.
    qp.turn = QueuePair::Turn::kNone;
    nic.turns.SetReady(qp.nic_slot, false);
  }
  return false;
}

void PacketNetwork::SendPacket(uint32_t id, uint32_t link, Port& port) {
  QueuePair& qp = queue_pairs_[id];
  uint32_t number = qp.next;
  if (qp.send_window == nullptr || !qp.send_window->PeekLost(&number)) {
    qp.sending = MessageOf(qp, number);
    ++qp.next;
  }
  if (qp.send_window != nullptr) {
    qp.send_window->Set(number, SendWindow::State::kFlying);
  }
  const uint32_t payload = PayloadOf(qp, number);
  if (number < qp.highest) {
    ++statistics_.num_retransmissions;
    ++messages_[MessageOf(qp, number)].retransmissions;
  }
  qp.highest = std::max(qp.highest, number + 1);
  const int64_t start_ps = port.busy_until_ps;
  if (qp.last_bytes > 0) CountPace(qp, port);
  // Before this packet there was no acknowledgement to wait for.
  if (qp.flying_bytes == 0) {
    qp.progress_ps = std::max(qp.progress_ps, start_ps);
  }
  qp.flying_bytes += payload;
  qp.sent_bytes += payload;
  ++qp.in_network;
  ++statistics_.num_data_packets;

  Packet packet{.time_ps = start_ps,
                .queue_pair = id,
                .sequence = number,
                .bytes = static_cast<uint16_t>(payload + header_bytes_),
                .hop = 1};
  if (qp.flying_bytes >= qp.window_bytes) packet.flags = Packet::kWantsAck;
  if (has_telemetry_) {
    packet.telemetry = NewTelemetry();
    telemetry_[packet.telemetry].sent_ps = start_ps;
  }
  Lane& lane = port.lane(TrafficClass::kData);
  port.queued_bytes += packet.bytes;
  lane.Push(packet);
  Start(link, port, lane, start_ps);

  qp.sent_ps = start_ps;
  qp.last_bytes = packet.bytes;
  qp.next_send_ps = NextSendAfter(qp);
  if (qp.timeout_ps == kNever) ArmTimeout(id);
  if (HasToSend(qp)) return TakeTurn(id);
  qp.turn = QueuePair::Turn::kNone;
  nics_[port.nic].turns.SetReady(qp.nic_slot, false);
}

// Returns when the rate allows the packet after the last one.
int64_t PacketNetwork::NextSendAfter(const QueuePair& qp) const {
  const Port& port = ports_[qp.link];
  if (qp.limits.rate.count() >= port.rate_bps) {
    return qp.sent_ps + port.SerialisationPs(qp.last_bytes);
  }
  return qp.sent_ps +
         TransferTime(Bytes(qp.last_bytes), qp.limits.rate).count();
}

// Counts for how long the rate has kept the next packet back.
void PacketNetwork::CountPace(const QueuePair& qp, const Port& port) {
  const int64_t pace_ps = qp.next_send_ps - qp.sent_ps;
  statistics_.sending += TimePs(pace_ps);
  if (pace_ps > kSlowFactor * port.SerialisationPs(qp.last_bytes)) {
    statistics_.sending_slowly += TimePs(pace_ps);
  }
}

// Returns the message of `packet`. Requires that it is not acknowledged.
uint32_t PacketNetwork::MessageOf(const QueuePair& qp, uint32_t packet) const {
  uint32_t message = qp.oldest;
  if (qp.sending != kNone && messages_[qp.sending].first <= packet) {
    message = qp.sending;
  }
  while (packet >= messages_[message].end()) message = messages_[message].next;
  return message;
}

uint32_t PacketNetwork::PayloadOf(const QueuePair& qp, uint32_t packet) const {
  const MessageState& message = messages_[MessageOf(qp, packet)];
  return packet + 1 == message.end() ? message.last_payload : payload_bytes_;
}

// Returns how long the sender waits for an acknowledgement.
int64_t PacketNetwork::PatienceOf(const QueuePair& qp) const {
  constexpr uint32_t kMaxDoublings = 20;
  return options_.nic.retransmission_timeout.count()
         << std::min<uint32_t>(qp.num_timeouts, kMaxDoublings);
}

// Sets the retransmission timer, which is not pending. Acknowledgements do not
// move it; when it is due, OnTimeout looks at what has happened.
void PacketNetwork::ArmTimeout(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  qp.timeout_ps = std::max(qp.progress_ps + PatienceOf(qp), now_ps_);
  Push(qp.timeout_ps, EventKind::kTimeout, id);
}

void PacketNetwork::OnTimeout(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.timeout_ps != now_ps_) return;
  qp.timeout_ps = kNever;
  if (qp.link != kNone) Advance(qp.link);
  if (qp.acked == qp.highest || qp.has_given_up) return;
  if (qp.progress_ps + PatienceOf(qp) > now_ps_) return ArmTimeout(id);
  if (++qp.num_timeouts > options_.nic.retries) {
    qp.has_given_up = true;
    return;
  }
  qp.progress_ps = now_ps_;
  // Packets in a queue or behind a pause are late, not lost.
  if (qp.in_network > 0) return ArmTimeout(id);
  if (qp.send_window != nullptr) {
    LoseAll(qp);
  } else {
    GoBack(qp);
  }
  if (qp.link != kNone) {
    control_->OnLoss(QueuePairId(id), now(), true, &qp.limits);
    AfterControl(id);
  }
  ArmTimeout(id);
  MakeReady(id);
}

// Returns whether the sender went back for this gap so recently that the
// retransmission may not have arrived.
bool PacketNetwork::HasGoneBack(const QueuePair& qp) const {
  return qp.went_back_to == qp.acked &&
         now_ps_ - qp.went_back_ps < network_rtt_ps_;
}

// Marks all packets that are not acknowledged to be sent again.
void PacketNetwork::GoBack(QueuePair& qp) {
  qp.went_back_to = qp.acked;
  qp.went_back_ps = now_ps_;
  qp.next = qp.acked;
  qp.flying_bytes = 0;
  qp.sending = qp.oldest;
}

void PacketNetwork::LoseAll(QueuePair& qp) {
  for (uint32_t packet = qp.acked; packet < qp.next; ++packet) {
    if (qp.send_window->Get(packet) != SendWindow::State::kFlying) continue;
    qp.send_window->Lose(packet);
  }
  qp.flying_bytes = 0;
}

void PacketNetwork::OnAck(const Packet& packet) {
  const uint32_t id = packet.queue_pair;
  QueuePair& qp = queue_pairs_[id];
  --qp.in_network;
  if (qp.link != kNone) Advance(qp.link);
  const bool is_nack = packet.kind == PacketKind::kNack;
  Acknowledgement ack;
  ack.now = now();
  ack.is_marked = (packet.flags & Packet::kMarked) != 0;
  const bool is_news = packet.sequence > qp.acked;
  ack.acked_bytes = AckUpTo(id, packet.sequence);
  if (packet.telemetry != kNone) {
    const TelemetrySlot& slot = telemetry_[packet.telemetry];
    ack.utilization = slot.utilization;
    ack.rtt = TimePs(now_ps_ - slot.sent_ps);
    ack.hops = absl::MakeConstSpan(slot.hops.data(), slot.num_hops);
    if (slot.arrived != kNone && qp.send_window != nullptr) {
      ack.acked_bytes += AckSelectively(qp, slot.arrived);
    }
  }
  if (is_news) {
    qp.progress_ps = now_ps_;
    qp.num_timeouts = 0;
  }
  qp.acked_bytes += static_cast<uint64_t>(ack.acked_bytes);
  ack.unacked_bytes = qp.flying_bytes;
  ack.sent_bytes = qp.sent_bytes;
  ack.acked_total_bytes = qp.acked_bytes;
  if (ack.is_marked && has_cnps_) {
    Append(statistics_.cnps,
           CnpRecord{now(), NodeId(qp.source), NodeId(qp.target), qp.channel});
  }
  if (is_nack && qp.acked < qp.next && !HasGoneBack(qp)) {
    GoBack(qp);
    control_->OnLoss(QueuePairId(id), now(), false, &qp.limits);
  } else if (qp.send_window != nullptr && FindLost(qp)) {
    control_->OnLoss(QueuePairId(id), now(), false, &qp.limits);
  }
  control_->OnAck(QueuePairId(id), ack, &qp.limits);
  if (packet.telemetry != kNone) free_telemetry_.push_back(packet.telemetry);
  AfterControl(id);
  MakeReady(id);
  MaybeClose(id);
}

// Handles the arrival of all packets before `packet`. Returns the payload that
// was not known to have arrived.
int64_t PacketNetwork::AckUpTo(uint32_t id, uint32_t packet) {
  QueuePair& qp = queue_pairs_[id];
  int64_t bytes = 0;
  if (packet <= qp.acked) return 0;
  if (packet > qp.next) {  // Sent before going back.
    qp.next = packet;
    qp.sending = kNone;
  }
  if (qp.send_window == nullptr) {
    bytes = int64_t{packet - qp.acked} * payload_bytes_;
  } else {
    for (uint32_t i = qp.acked; i < packet; ++i) {
      const uint32_t payload = PayloadOf(qp, i);
      const SendWindow::State state = qp.send_window->Get(i);
      if (state != SendWindow::State::kArrived) bytes += payload;
      if (state == SendWindow::State::kFlying) qp.flying_bytes -= payload;
      qp.send_window->PopFront();
    }
  }
  qp.acked = packet;
  while (qp.oldest != kNone && messages_[qp.oldest].end() <= packet) {
    const uint32_t done = qp.oldest;
    if (qp.send_window == nullptr) {
      bytes -= payload_bytes_ - messages_[done].last_payload;
    }
    qp.oldest = messages_[done].next;
    if (qp.sending == done) qp.sending = qp.oldest;
    CompleteMessage(id, done);
  }
  if (qp.oldest == kNone) qp.newest = kNone;
  if (qp.sending == kNone) qp.sending = qp.oldest;
  if (qp.send_window == nullptr) {
    qp.flying_bytes = std::max<int64_t>(0, qp.flying_bytes - bytes);
    if (qp.acked == qp.next) qp.flying_bytes = 0;
  }
  return bytes;
}

int64_t PacketNetwork::AckSelectively(QueuePair& qp, uint32_t packet) {
  if (packet < qp.acked) return 0;
  const SendWindow::State state = qp.send_window->Get(packet);
  if (state == SendWindow::State::kArrived) return 0;
  const uint32_t payload = PayloadOf(qp, packet);
  if (state == SendWindow::State::kFlying) qp.flying_bytes -= payload;
  qp.send_window->Set(packet, SendWindow::State::kArrived);
  qp.send_window->highest_arrived =
      std::max(qp.send_window->highest_arrived, packet);
  return payload;
}

// Finds packets that too many later ones have overtaken and marks them as lost.
// Each packet is checked once, so one that is lost again waits for the timeout.
bool PacketNetwork::FindLost(QueuePair& qp) {
  SendWindow& window = *qp.send_window;
  window.scanned = std::max(window.scanned, qp.acked);
  bool has_lost = false;
  while (window.scanned + options_.nic.reorder_packets <=
         window.highest_arrived) {
    if (window.Get(window.scanned) == SendWindow::State::kFlying) {
      qp.flying_bytes -= PayloadOf(qp, window.scanned);
      window.Lose(window.scanned);
      has_lost = true;
    }
    ++window.scanned;
  }
  return has_lost;
}

// Applies limits and a timer that congestion control may have set.
void PacketNetwork::AfterControl(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.link != kNone && (qp.limits.rate != qp.window_rate ||
                           qp.limits.window_bytes != qp.control_window_bytes)) {
    if (paces_anew_ && qp.limits.rate != qp.window_rate) PaceAnew(qp);
    qp.window_rate = qp.limits.rate;
    qp.control_window_bytes = qp.limits.window_bytes;
    qp.window_bytes = WindowOf(qp);
  }
  const int64_t timer_ps = qp.limits.timer.count();
  if (timer_ps == qp.timer_ps) return;
  qp.timer_ps = timer_ps;
  if (timer_ps != kNever) {
    Push(std::max(timer_ps, now_ps_), EventKind::kTimer, id);
  }
}

// Moves the instant of the next packet to what the new rate allows. Requires
// that MakeReady follows, which queues the queue pair again.
void PacketNetwork::PaceAnew(QueuePair& qp) {
  if (qp.last_bytes == 0) return;
  qp.next_send_ps = NextSendAfter(qp);
  if (qp.turn == QueuePair::Turn::kNone) return;
  nics_[ports_[qp.link].nic].turns.SetReady(qp.nic_slot, false);
  qp.turn = QueuePair::Turn::kNone;
}

void PacketNetwork::OnTimer(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (!qp.is_open || qp.timer_ps > now_ps_) return;
  if (qp.link != kNone) Advance(qp.link);
  qp.timer_ps = kNever;
  qp.limits.timer = kNoTimer;
  control_->OnTimer(QueuePairId(id), now(), &qp.limits);
  AfterControl(id);
  MakeReady(id);
}

// Frees a message whose last packet is acknowledged.
void PacketNetwork::CompleteMessage(uint32_t id, uint32_t slot) {
  if (options_.nic.completion == Completion::kAcknowledged) {
    Finish(id, messages_[slot]);
  }
  free_messages_.push_back(slot);
}

// Handles a message that has arrived by the definition of
// NicOptions::completion.
void PacketNetwork::Finish(uint32_t id, const MessageState& message) {
  if (statistics_.KeepsNextFlow(options_.record)) RecordFlow(id, message);
  if (message.is_background) return;
  if (message.order == kNone) {
    arrived_.push_back(message.id);
  } else {
    HandOver(message);
  }
}

// Hands over the message and those that waited for it; keeps it back if it has
// overtaken earlier messages.
void PacketNetwork::HandOver(const MessageState& message) {
  Order& order = orders_[message.order];
  order.early.emplace_back(message.number, message.id);
  std::push_heap(order.early.begin(), order.early.end(), std::greater<>());
  while (!order.early.empty() &&
         order.early.front().first == order.num_handed_over) {
    arrived_.push_back(order.early.front().second);
    std::pop_heap(order.early.begin(), order.early.end(), std::greater<>());
    order.early.pop_back();
    ++order.num_handed_over;
  }
}

}  // namespace astra
