#include "network-frontends/packet/senders.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"
#include "astra-core/base/check.h"

namespace astra {

Senders::Senders(const PacketSetup& setup, PacketEvents& events,
                 PortArray ports, const Paths& paths, TelemetrySlots& telemetry,
                 QueuePairPool& queue_pairs, MessagePool& messages, Nics& nics,
                 Deliveries& deliveries, Records& records)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      telemetry_(telemetry),
      queue_pairs_(queue_pairs),
      messages_(messages),
      nics_(nics),
      deliveries_(deliveries),
      records_(records),
      control_(*setup.control),
      paces_anew_(control_.paces_anew()),
      pace_follows_rate_(setup.options.nic.pace_follows_rate),
      window_follows_rate_(setup.options.nic.window_follows_rate) {}

void Senders::StartControl(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.link == kNoId<LinkId>) return;
  const PathProperties path = paths_.PropertiesOf(id);
  qp.limits = {.rate = path.line_rate};
  qp.window_cap = paths_.WindowCapOf(path);
  control_.Open(id, path, events_.now(), &qp.limits);
  AfterControl(id);
}

void Senders::Enqueue(QueuePairId id, const Message& message,
                      MessageState state) {
  QueuePair& qp = queue_pairs_[id];
  const int64_t payload = setup_.payload.count();
  const int64_t num_packets =
      std::max<int64_t>(1, (message.bytes.count() + payload - 1) / payload);
  ASTRA_CHECK(num_packets < UINT32_MAX - qp.end.index(),
              "{} packets of one queue pair", num_packets + qp.end.index());
  state.id = message.id;
  state.bytes = message.bytes;
  state.start = events_.now();
  state.first = qp.end;
  state.num_packets = static_cast<uint32_t>(num_packets);
  state.last_payload = static_cast<uint32_t>(message.bytes.count() -
                                             (num_packets - 1) * payload);
  const MessageSlot slot = messages_.Take();
  messages_[slot] = state;
  if (qp.oldest == kNoId<MessageSlot>) {
    qp.oldest = slot;
  } else {
    messages_[qp.newest].next = slot;
  }
  qp.newest = slot;
  if (qp.sending == kNoId<MessageSlot>) qp.sending = slot;
  if (qp.receiving == kNoId<MessageSlot>) qp.receiving = slot;
  qp.end = state.end();
}

// Returns the largest window, where that is in proportion to the rate.
Bytes Senders::WindowCapOf(const QueuePair& qp) const {
  if (qp.window_cap == Bytes(INT64_MAX)) return qp.window_cap;
  const double share =
      static_cast<double>(qp.limits.rate.count()) /
      static_cast<double>(ports_[qp.link].nominal_rate.count());
  return Bytes(std::max<int64_t>(
      1, std::llround(std::min(share, 1.0) *
                      static_cast<double>(qp.window_cap.count()))));
}

QueuePairId Senders::NextTurn(LinkId link, const Port& port) {
  while (true) {
    const QueuePairId id = nics_.Next(link, port);
    if (id == kNoId<QueuePairId>) return id;
    QueuePair& qp = queue_pairs_[id];
    if (CanSend(qp)) return id;
    // Its window may have shrunk since it became ready.
    nics_.LoseTurn(qp, port);
  }
}

void Senders::MakePacket(QueuePairId id, TimePs start, Packet& packet) {
  QueuePair& qp = queue_pairs_[id];
  PacketNumber number = qp.next;
  const bool is_lost =
      qp.send_window != nullptr && qp.send_window->PeekLost(&number);
  const MessageSlot slot = MessageOf(qp, number);
  MessageState& message = messages_[slot];
  if (!is_lost) {
    qp.sending = slot;
    qp.next = Next(qp.next);
  }
  if (qp.send_window != nullptr) {
    qp.send_window->Set(number, SendWindow::State::kFlying);
  }
  const Bytes payload = PayloadOf(message, number);
  NetworkStatistics& totals = records_.totals();
  if (number < qp.highest) {
    ++totals.num_retransmissions;
    ++message.retransmissions;
  }
  qp.highest = std::max(qp.highest, Next(number));
  // Before this packet there was no acknowledgement to wait for.
  if (qp.flying == Bytes()) qp.progress = std::max(qp.progress, start);
  qp.flying += payload;
  qp.sent_bytes += static_cast<uint64_t>(payload.count());
  ++qp.in_network;
  ++totals.num_data_packets;

  packet = {.time = start,
            .queue_pair = id,
            .number = number,
            .bytes = static_cast<uint16_t>((payload + setup_.header).count()),
            .hop = 1};
  if (qp.flying >= qp.window) packet.flags = Packet::kWantsAck;
  if (telemetry_.is_carried()) {
    packet.telemetry = telemetry_.Take();
    telemetry_[packet.telemetry].sent = start;
  }
}

void Senders::AfterSending(QueuePairId id, TimePs start, Bytes size,
                           const Port& port) {
  QueuePair& qp = queue_pairs_[id];
  qp.sent = start;
  qp.last_size = static_cast<uint32_t>(size.count());
  if (qp.limits.rate >= port.rate) {
    // The next packet may follow as soon as the port is free again.
    qp.next_send = port.busy_until;
    records_.totals().sending += qp.next_send - start;
  } else {
    qp.next_send = NextSendAfter(qp);
    CountPace(qp, port);
  }
  if (qp.timeout == kNever) ArmTimeout(id);
  if (CanSend(qp)) return nics_.TakeTurn(id, port);
  nics_.LoseTurn(qp, port);
}

// Returns when the rate allows the packet after the last one.
TimePs Senders::NextSendAfter(const QueuePair& qp) const {
  const Port& port = ports_[qp.link];
  const Bytes size(qp.last_size);
  return qp.sent + (qp.limits.rate >= port.rate
                        ? port.SerialisationTime(size)
                        : TransferTime(size, qp.limits.rate));
}

void Senders::CountPace(const QueuePair& qp, const Port& port,
                        int64_t packets) {
  NetworkStatistics& totals = records_.totals();
  const TimePs pace = qp.next_send - qp.sent;
  totals.sending += packets * pace;
  if (pace > kSlowFactor * port.SerialisationTime(Bytes(qp.last_size))) {
    totals.sending_slowly += packets * pace;
  }
}

// Returns the message of `packet`. Requires that it is not acknowledged.
MessageSlot Senders::MessageOf(const QueuePair& qp, PacketNumber packet) const {
  MessageSlot message = qp.oldest;
  if (qp.sending != kNoId<MessageSlot> &&
      messages_[qp.sending].first <= packet) {
    message = qp.sending;
  }
  while (packet >= messages_[message].end()) message = messages_[message].next;
  return message;
}

void Senders::OnAck(const Packet& packet) {
  const QueuePairId id = packet.queue_pair;
  QueuePair& qp = queue_pairs_[id];
  const TimePs now = events_.now();
  --qp.in_network;
  Acknowledgement ack;
  ack.now = now;
  ack.is_marked = packet.has(Packet::kMarked);
  const bool is_news = packet.number > qp.acked;
  Bytes acked = AckUpTo(id, packet.number);
  if (packet.telemetry != kNoId<TelemetryId>) {
    const TelemetrySlot& slot = telemetry_[packet.telemetry];
    ack.utilization = slot.utilization;
    ack.rtt = now - slot.sent;
    ack.hops = absl::MakeConstSpan(slot.hops.data(), slot.num_hops);
    if (slot.arrived != kNoId<PacketNumber> && qp.send_window != nullptr) {
      acked += AckSelectively(qp, slot.arrived);
    }
  }
  if (is_news) {
    qp.progress = now;
    qp.num_timeouts = 0;
  }
  qp.acked_bytes += static_cast<uint64_t>(acked.count());
  ack.acked_bytes = acked.count();
  ack.unacked_bytes = qp.flying.count();
  ack.sent_bytes = qp.sent_bytes;
  ack.acked_total_bytes = qp.acked_bytes;
  if (ack.is_marked) records_.AddMarkedAck(qp, now);
  if (FindLosses(qp, packet)) control_.OnLoss(id, now, false, &qp.limits);
  control_.OnAck(id, ack, &qp.limits);
  telemetry_.Free(packet.telemetry);
  AfterControl(id);
}

// Handles the arrival of all packets before `packet`. Returns the payload that
// was not known to have arrived.
Bytes Senders::AckUpTo(QueuePairId id, PacketNumber packet) {
  QueuePair& qp = queue_pairs_[id];
  if (packet <= qp.acked) return Bytes();
  if (packet > qp.next) {  // Sent before going back.
    qp.next = packet;
    qp.sending = kNoId<MessageSlot>;
  }
  Bytes payload =
      qp.send_window == nullptr
          ? int64_t{packet.index() - qp.acked.index()} * setup_.payload
          : AckEach(qp, packet);
  qp.acked = packet;
  // Most acknowledgements complete no message.
  const bool is_within =
      qp.sending != kNoId<MessageSlot> && packet < messages_[qp.oldest].end();
  const Bytes missing = is_within ? Bytes() : CompleteMessages(id);
  if (qp.send_window == nullptr) {
    payload -= missing;
    qp.flying = std::max(Bytes(), qp.flying - payload);
    if (qp.acked == qp.next) qp.flying = Bytes();
  }
  return payload;
}

// Removes from the window of the sender all packets before `packet`. Returns
// the payload that was not known to have arrived.
Bytes Senders::AckEach(QueuePair& qp, PacketNumber packet) {
  Bytes bytes;
  for (PacketNumber i = qp.acked; i < packet; i = Next(i)) {
    const Bytes payload = PayloadOf(qp, i);
    const SendWindow::State state = qp.send_window->Get(i);
    if (state != SendWindow::State::kArrived) bytes += payload;
    if (state == SendWindow::State::kFlying) qp.flying -= payload;
    qp.send_window->PopFront();
  }
  return bytes;
}

// Frees the messages whose last packet is acknowledged. Returns by how much
// their last packets are smaller than full ones.
Bytes Senders::CompleteMessages(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  Bytes missing;
  while (qp.oldest != kNoId<MessageSlot> &&
         messages_[qp.oldest].end() <= qp.acked) {
    const MessageSlot done = qp.oldest;
    missing += setup_.payload - Bytes(messages_[done].last_payload);
    qp.oldest = messages_[done].next;
    if (qp.sending == done) qp.sending = qp.oldest;
    if (setup_.options.nic.completion == Completion::kAcknowledged) {
      deliveries_.Finish(id, qp, messages_[done]);
    }
    messages_.Free(done);
  }
  if (qp.oldest == kNoId<MessageSlot>) qp.newest = kNoId<MessageSlot>;
  if (qp.sending == kNoId<MessageSlot>) qp.sending = qp.oldest;
  return missing;
}

Bytes Senders::AckSelectively(QueuePair& qp, PacketNumber packet) {
  if (packet < qp.acked) return Bytes();
  const SendWindow::State state = qp.send_window->Get(packet);
  if (state == SendWindow::State::kArrived) return Bytes();
  const Bytes payload = PayloadOf(qp, packet);
  if (state == SendWindow::State::kFlying) qp.flying -= payload;
  qp.send_window->Set(packet, SendWindow::State::kArrived);
  qp.send_window->highest_arrived =
      std::max(qp.send_window->highest_arrived, packet);
  return payload;
}

// Returns whether the acknowledgement reports new losses, which are then to be
// sent again.
bool Senders::FindLosses(QueuePair& qp, const Packet& packet) {
  if (packet.kind == PacketKind::kNack) records_.CountIrregular();
  if (packet.kind == PacketKind::kNack && qp.acked < qp.next &&
      !HasGoneBack(qp)) {
    GoBack(qp);
    return true;
  }
  return qp.send_window != nullptr && FindLost(qp);
}

// Finds packets that too many later ones have overtaken and marks them as lost.
// Each packet is checked once, so one that is lost again waits for the timeout.
bool Senders::FindLost(QueuePair& qp) {
  SendWindow& window = *qp.send_window;
  window.scanned = std::max(window.scanned, qp.acked);
  bool has_lost = false;
  while (window.scanned.index() + setup_.options.nic.reorder_packets <=
         window.highest_arrived.index()) {
    if (window.Get(window.scanned) == SendWindow::State::kFlying) {
      qp.flying -= PayloadOf(qp, window.scanned);
      window.Lose(window.scanned);
      has_lost = true;
    }
    window.scanned = Next(window.scanned);
  }
  return has_lost;
}

// Returns whether the sender went back for this gap so recently that the
// retransmission may not have arrived.
bool Senders::HasGoneBack(const QueuePair& qp) const {
  return qp.went_back_to == qp.acked &&
         events_.now() - qp.went_back < paths_.network_rtt();
}

// Marks all packets that are not acknowledged to be sent again.
void Senders::GoBack(QueuePair& qp) {
  qp.went_back_to = qp.acked;
  qp.went_back = events_.now();
  qp.next = qp.acked;
  qp.flying = Bytes();
  qp.sending = qp.oldest;
}

void Senders::LoseAll(QueuePair& qp) {
  for (PacketNumber packet = qp.acked; packet < qp.next;
       packet = Next(packet)) {
    if (qp.send_window->Get(packet) != SendWindow::State::kFlying) continue;
    qp.send_window->Lose(packet);
  }
  qp.flying = Bytes();
}

// Applies limits and a timer that congestion control may have set.
void Senders::AfterControl(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  const Bytes control_window(qp.limits.window_bytes);
  if (qp.link != kNoId<LinkId> && (qp.limits.rate != qp.window_rate ||
                                   control_window != qp.control_window)) {
    if (qp.limits.rate != qp.window_rate) PaceAnew(qp);
    qp.window_rate = qp.limits.rate;
    qp.control_window = control_window;
    qp.window = WindowOf(qp);
  }
  if (qp.limits.timer == qp.timer) return;
  qp.timer = qp.limits.timer;
  if (qp.timer != kNever) {
    events_.PushTimer(std::max(qp.timer, events_.now()), id);
  }
}

// Moves the instant of the next packet to what the new rate allows, but not to
// before now, if the control or the NIC does so. A pace that is over, as that
// of a queue pair that waits for its window, can only become longer. Requires
// that Departures::Wake follows, which queues the queue pair again.
void Senders::PaceAnew(QueuePair& qp) {
  if (qp.last_size == 0) return;
  const TimePs now = events_.now();
  const TimePs before = std::max(qp.next_send, now);
  const TimePs next = std::max(NextSendAfter(qp), now);
  const bool is_earlier = pace_follows_rate_ && next < before;
  if (!paces_anew_ && !is_earlier) return;
  const Port& port = ports_[qp.link];
  if (next != before) {
    CountPace(qp, port, -1);
    qp.next_send = next;
    CountPace(qp, port);
  }
  // Wake() decides about this instant for a queue pair that was not queued.
  if (qp.turn != QueuePair::Turn::kNone) nics_.LoseTurn(qp, port);
}

bool Senders::IsTimerDue(QueuePairId id) const {
  const QueuePair& qp = queue_pairs_[id];
  return qp.is_open && qp.timer <= events_.now();
}

void Senders::OnTimer(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  qp.timer = kNever;
  qp.limits.timer = kNoTimer;
  control_.OnTimer(id, events_.now(), &qp.limits);
  AfterControl(id);
}

// Returns how long the sender waits for an acknowledgement.
TimePs Senders::PatienceOf(const QueuePair& qp) const {
  constexpr uint32_t kMaxDoublings = 20;
  const uint32_t doublings = std::min<uint32_t>(qp.num_timeouts, kMaxDoublings);
  return (int64_t{1} << doublings) * setup_.options.nic.retransmission_timeout;
}

// Sets the retransmission timer, which is not pending. Acknowledgements do not
// move it; when it is due, OnTimeout looks at what has happened.
void Senders::ArmTimeout(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  qp.timeout = std::max(qp.progress + PatienceOf(qp), events_.now());
  events_.PushTimeout(qp.timeout, id);
}

bool Senders::TakeTimeout(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.timeout != events_.now()) return false;
  qp.timeout = kNever;
  if (qp.acked == qp.end || qp.has_given_up) return false;
  if (qp.progress + PatienceOf(qp) <= events_.now()) return true;
  if (qp.acked != qp.highest) ArmTimeout(id);
  return false;
}

bool Senders::OnTimeout(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  const TimePs now = events_.now();
  if (qp.acked == qp.highest) return false;
  // A packet that left by now after a pause may have been what it waits for.
  if (qp.progress + PatienceOf(qp) > now) {
    ArmTimeout(id);
    return false;
  }
  records_.CountIrregular();
  if (++qp.num_timeouts > setup_.options.nic.retries) {
    qp.has_given_up = true;
    last_give_up_ = now;
    return false;
  }
  qp.progress = now;
  // Packets in a queue or behind a pause are late, not lost.
  if (qp.in_network > 0) {
    ArmTimeout(id);
    return false;
  }
  if (qp.send_window != nullptr) {
    LoseAll(qp);
  } else {
    GoBack(qp);
  }
  if (qp.link != kNoId<LinkId>) {
    control_.OnLoss(id, now, true, &qp.limits);
    AfterControl(id);
  }
  ArmTimeout(id);
  return true;
}

}  // namespace astra
