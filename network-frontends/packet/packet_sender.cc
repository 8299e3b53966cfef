// Queue pairs as senders: messages to packets, turns at the NIC, what
// acknowledgements and their absence do.

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
  Enqueue(qp, state);
  FinishEvent();
}

// The queue pair of a message, which is opened if need be.
uint32_t PacketNetwork::ConnectionOf(const Message& message) {
  const uint32_t source = message.source.index();
  const uint32_t target = message.target.index();
  const uint64_t ends = uint64_t{source} << 32 | target;
  if (options_.nic.queue_pairs == QueuePairs::kPerMessage) {
    const uint64_t key = HashOf(options_.seed, ends, num_connections_++);
    return OpenQueuePair(source, target, message.channel, key);
  }
  const auto [found, is_new] =
      connections_.try_emplace({ends, message.channel}, kNone);
  if (is_new) {
    const uint64_t key = HashOf(options_.seed, ends, uint64_t{message.channel});
    const uint32_t qp = OpenQueuePair(source, target, message.channel, key);
    connections_[{ends, message.channel}] = qp;
    return qp;
  }
  return found->second;
}

uint32_t PacketNetwork::OpenQueuePair(uint32_t source, uint32_t target,
                                      uint32_t channel, uint64_t key) {
  if (free_queue_pairs_.empty()) {
    free_queue_pairs_.push_back(static_cast<uint32_t>(queue_pairs_.size()));
    ASTRA_CHECK(queue_pairs_.size() < (uint64_t{1} << kIndexBits),
                "{} queue pairs", queue_pairs_.size());
    queue_pairs_.emplace_back();
    paths_.resize(queue_pairs_.size() * 2 * stride_, kEndOfPath);
  }
  const uint32_t id = free_queue_pairs_.back();
  free_queue_pairs_.pop_back();
  QueuePair& qp = queue_pairs_[id];
  // Events of the one that had the slot may be pending; theirs are not ours.
  qp = QueuePair();
  qp.is_open = true;
  qp.source = source;
  qp.target = target;
  qp.channel = channel;
  qp.key = key;
  qp.next_send_ps = now_ps_;
  qp.progress_ps = now_ps_;
  if (options_.nic.loss_recovery == LossRecovery::kSelectiveRepeat) {
    qp.send_window = std::make_unique<SendWindow>();
    qp.receive_window = std::make_unique<ReceiveWindow>();
  }
  FindPaths(id);
  if (qp.link != kNone) StartControl(id);
  return id;
}

// Requires that it has a path.
void PacketNetwork::StartControl(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  const PathProperties path = PropertiesOf(id);
  qp.limits = {.rate = path.line_rate};
  qp.window_cap_bytes = WindowCapOf(path);
  control_->Open(QueuePairId(id), path, now(), &qp.limits);
  AfterControl(id);
}

// Chooses both ways, there and back, over links that are up, and takes a place
// at the port where the way there begins.
void PacketNetwork::FindPaths(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  const bool has_both = SetPath(id, false, qp.source, qp.target, qp.key) &&
                        SetPath(id, true, qp.target, qp.source, Mix64(qp.key));
  const uint32_t link = has_both ? PathOf(id, false)[0] : kNone;
  if (link == qp.link) return;
  LeaveNic(qp);
  qp.link = link;
  if (!has_both) return;
  Port& port = ports_[link];
  if (port.nic == kNone) {
    port.nic = static_cast<uint32_t>(nics_.size());
    nics_.emplace_back();
  }
  qp.nic_slot =
      nics_[port.nic].turns.Add(id, [this](uint32_t moved, uint32_t slot) {
        queue_pairs_[moved].nic_slot = slot;
      });
}

void PacketNetwork::LeaveNic(QueuePair& qp) {
  if (qp.link == kNone) return;
  nics_[ports_[qp.link].nic].turns.Remove(qp.nic_slot);
  qp.turn = QueuePair::Turn::kNone;
  qp.link = kNone;
}

bool PacketNetwork::SetPath(uint32_t id, bool is_back, uint32_t from,
                            uint32_t to, uint64_t key) {
  scratch_path_.clear();
  if (!next_hops_.AppendEcmpPath(NodeId(from), NodeId(to), key,
                                 &scratch_path_)) {
    return false;
  }
  const auto length = static_cast<uint32_t>(scratch_path_.size());
  ASTRA_CHECK(length < 255, "a path of {} links", length);
  if (length + 1 > stride_) Restride(length + 1);
  uint32_t* path = PathOf(id, is_back);
  for (const LinkId link : scratch_path_) *path++ = link.index();
  *path = kEndOfPath;
  return true;
}

// Makes room for longer paths.
void PacketNetwork::Restride(uint32_t stride) {
  std::vector<uint32_t> paths(queue_pairs_.size() * 2 * stride, kEndOfPath);
  for (size_t i = 0; i < queue_pairs_.size() * 2; ++i) {
    std::copy_n(paths_.begin() + static_cast<std::ptrdiff_t>(i * stride_),
                stride_,
                paths.begin() + static_cast<std::ptrdiff_t>(i * stride));
  }
  paths_ = std::move(paths);
  stride_ = stride;
}

PathProperties PacketNetwork::PropertiesOf(uint32_t id) {
  const uint32_t full = payload_bytes_ + header_bytes_;
  PathProperties path;
  path.line_rate = Bandwidth(ports_[PathOf(id, false)[0]].nominal_bps);
  path.bottleneck = path.line_rate;
  path.packet_bytes = full;
  int64_t rtt_ps = 0;
  for (const bool is_back : {false, true}) {
    for (const uint32_t* link = PathOf(id, is_back); *link != kEndOfPath;
         ++link) {
      const Port& port = ports_[*link];
      const Bandwidth rate(port.nominal_bps);
      rtt_ps += port.propagation_ps +
                TransferTime(Bytes(is_back ? ack_bytes_ : full), rate).count();
      if (is_back) continue;
      path.bottleneck = std::min(path.bottleneck, rate);
      ++path.num_hops;
    }
  }
  path.base_rtt = TimePs(rtt_ps);
  path.network_rtt = TimePs(std::max(rtt_ps, network_rtt_ps_));
  path.network_window_bytes = network_window_bytes_;
  return path;
}

int64_t PacketNetwork::WindowCapOf(const PathProperties& path) const {
  double bytes = 0;
  switch (options_.nic.window) {
    case WindowScope::kNone:
      return kNever;
    case WindowScope::kPath:
      bytes = static_cast<double>(path.base_rtt.count()) * 1e-12 *
              static_cast<double>(path.bottleneck.count()) / 8;
      break;
    case WindowScope::kNetwork:
      bytes = static_cast<double>(network_window_bytes_);
      break;
  }
  return std::max<int64_t>(payload_bytes_,
                           std::llround(bytes * options_.nic.window_factor));
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

// Lets the queue pair take its turn, if it may send.
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

// The queue pair whose turn it is sends a packet; false if none may yet.
bool PacketNetwork::StartFromNic(uint32_t link, Port& port) {
  Nic& nic = nics_[port.nic];
  while (!nic.paced.empty() && nic.paced.front().first <= port.busy_until_ps) {
    const auto [time_ps, id] = nic.paced.front();
    std::pop_heap(nic.paced.begin(), nic.paced.end(), std::greater<>());
    nic.paced.pop_back();
    QueuePair& qp = queue_pairs_[id];
    // The entry may be of one that has left.
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
    // Less may be under way than when it became ready.
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
  // Before, there was nothing to wait for.
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
    // A switch does so as the packet leaves.
    if (has_hops_ && port.switch_index == kNone) {
      AddHop(port, packet, start_ps);
    }
  }
  Lane& lane = port.lane(TrafficClass::kData);
  port.queued_bytes += packet.bytes;
  lane.Push(packet);
  Start(link, port, lane, start_ps);

  const int64_t rate = qp.limits.rate.count();
  qp.next_send_ps = port.busy_until_ps;
  if (rate < port.rate_bps) {
    qp.next_send_ps =
        start_ps + TransferTime(Bytes(packet.bytes), Bandwidth(rate)).count();
  }
  if (qp.timeout_ps == kNever) ArmTimeout(id);
  if (HasToSend(qp)) return TakeTurn(id);
  qp.turn = QueuePair::Turn::kNone;
  nics_[port.nic].turns.SetReady(qp.nic_slot, false);
}

// The message that `packet` is of. Requires that it is not acknowledged.
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

// How long it waits for an acknowledgement.
int64_t PacketNetwork::PatienceOf(const QueuePair& qp) const {
  constexpr uint32_t kMaxDoublings = 20;
  return options_.nic.retransmission_timeout.count()
         << std::min<uint32_t>(qp.num_timeouts, kMaxDoublings);
}

// The timer is set when it is not pending, and looks at what has happened when
// it is due: it is not moved with each acknowledgement.
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

// Whether the gap was reported before, and what was sent again for that may not
// have come there yet.
bool PacketNetwork::HasGoneBack(const QueuePair& qp) const {
  return qp.went_back_to == qp.acked &&
         now_ps_ - qp.went_back_ps < network_rtt_ps_;
}

// All that was sent and not acknowledged is to be sent again.
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
  if (ack.is_marked && options_.record.cnp) {
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

// Packets before `packet` have arrived. Returns the payload of those of which
// that is news.
int64_t PacketNetwork::AckUpTo(uint32_t id, uint32_t packet) {
  QueuePair& qp = queue_pairs_[id];
  int64_t bytes = 0;
  if (packet <= qp.acked) return 0;
  if (packet > qp.next) {  // Sent before it went back.
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

// Packets that too many later ones have overtaken are lost; each is looked at
// once, so one that is lost again waits for the timeout.
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

// Congestion control may have set its limits and its timer.
void PacketNetwork::AfterControl(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (qp.link != kNone && (qp.limits.rate != qp.window_rate ||
                           qp.limits.window_bytes != qp.control_window_bytes)) {
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

// The last packet of the message is acknowledged.
void PacketNetwork::CompleteMessage(uint32_t id, uint32_t slot) {
  if (options_.nic.completion == Completion::kAcknowledged) {
    Finish(id, messages_[slot]);
  }
  free_messages_.push_back(slot);
}

// The message has arrived, as the options define that.
void PacketNetwork::Finish(uint32_t id, const MessageState& message) {
  if (message.is_background) return;
  arrived_.push_back(message.id);
  if (statistics_.KeepsNextFlow(options_.record)) RecordFlow(id, message);
}

// A queue pair of one message is gone with the last of its packets.
void PacketNetwork::MaybeClose(uint32_t id) {
  QueuePair& qp = queue_pairs_[id];
  if (options_.nic.queue_pairs != QueuePairs::kPerMessage || !qp.is_open ||
      qp.acked != qp.end || qp.in_network > 0) {
    return;
  }
  LeaveNic(qp);
  qp.is_open = false;
  free_queue_pairs_.push_back(id);
}

}  // namespace astra
