// Records and statistics of the packet network.

#include <algorithm>
#include <string>

#include "absl/types/span.h"
#include "fmt/core.h"
#include "network-frontends/packet/packet_network.h"

namespace astra {

// Returns the time that the message would take alone. The last packet but one
// and the last, which may be short, are followed from link to link. The packets
// before keep the distance of the slowest link.
TimePs PacketNetwork::IdealOf(uint32_t qp, const MessageState& message) {
  const int64_t num_full = int64_t{message.num_packets} - 1;
  const Bytes full(payload_bytes_ + header_bytes_);
  const Bytes last(message.last_payload + header_bytes_);
  int64_t first_ps = 0;    // When the first packet has left this link.
  int64_t slowest_ps = 0;  // Time of a full packet on the slowest link.
  int64_t before_last_ps = 0;
  int64_t last_ps = 0;
  int64_t way_ps = 0;  // Propagation up to this link.
  for (const uint32_t* link = PathOf(qp, false); *link != kEndOfPath; ++link) {
    const Port& port = ports_[*link];
    const Bandwidth rate(port.nominal_bps);
    const int64_t full_ps = TransferTime(full, rate).count();
    first_ps += way_ps + full_ps;
    slowest_ps = std::max(slowest_ps, full_ps);
    before_last_ps = num_full == 0 ? 0 : first_ps + (num_full - 1) * slowest_ps;
    last_ps = std::max(before_last_ps, last_ps + way_ps) +
              TransferTime(last, rate).count();
    way_ps = port.propagation_ps;
  }
  int64_t ideal_ps = last_ps + way_ps;
  if (options_.nic.completion == Completion::kAcknowledged) {
    for (const uint32_t* link = PathOf(qp, true); *link != kEndOfPath; ++link) {
      const Port& port = ports_[*link];
      ideal_ps +=
          port.propagation_ps +
          TransferTime(Bytes(ack_bytes_), Bandwidth(port.nominal_bps)).count();
    }
  }
  return TimePs(std::max<int64_t>(1, ideal_ps));
}

void PacketNetwork::RecordFlow(uint32_t id, const MessageState& message) {
  const QueuePair& qp = queue_pairs_[id];
  FlowRecord record{.message = message.id,
                    .source = NodeId(qp.source),
                    .target = NodeId(qp.target),
                    .channel = qp.channel,
                    .retransmissions = message.retransmissions,
                    .path = statistics_.paths.size(),
                    .bytes = Bytes(message.bytes),
                    .start = TimePs(message.start_ps),
                    .finish = now(),
                    .ideal = IdealOf(id, message)};
  if (statistics_.flows.size() < options_.record.max_records) {
    for (const uint32_t* link = PathOf(id, false); *link != kEndOfPath;
         ++link) {
      statistics_.paths.emplace_back(*link);
      ++record.num_links;
    }
  }
  Append(statistics_.flows, record);
}

void PacketNetwork::RecordCapture(const Packet& packet, int64_t start_ps) {
  using Kind = CapturedPacket::Kind;
  CapturedPacket record;
  record.time = TimePs(start_ps);
  record.kind = static_cast<Kind>(packet.kind);
  record.is_marked = (packet.flags & Packet::kMarked) != 0;
  record.sequence = packet.sequence;
  record.wire_bytes = Bytes(packet.bytes);
  if (packet.queue_pair != kNone) {
    const QueuePair& qp = queue_pairs_[packet.queue_pair];
    const bool is_back = packet.kind != PacketKind::kData;
    record.source = NodeId(is_back ? qp.target : qp.source);
    record.target = NodeId(is_back ? qp.source : qp.target);
    record.channel = qp.channel;
  } else {
    const Link& link = topology_.link(*options_.record.captured_link);
    record.source = link.source;
    record.target = link.target;
  }
  Append(statistics_.captured, record);
}

// Takes the samples that are due before `up_to_ps`.
void PacketNetwork::TakeSamples(int64_t up_to_ps) {
  const int64_t interval_ps = options_.record.sample_interval->count();
  if (num_in_flight_ == 0 && options_.background.empty()) {
    // Skips samples while ranks only compute, since there is nothing to record.
    const int64_t num_due =
        (up_to_ps - next_sample_ps_ + interval_ps - 1) / interval_ps;
    next_sample_ps_ += std::max<int64_t>(0, num_due) * interval_ps;
    return;
  }
  while (next_sample_ps_ < up_to_ps) {
    const TimePs time(next_sample_ps_);
    now_ps_ = next_sample_ps_;
    for (uint32_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i].queued_bytes == 0) continue;
      Advance(i);
      Arm(i);
      if (ports_[i].queued_bytes == 0) continue;
      Append(statistics_.queues,
             QueueSample{time, LinkId(i), Bytes(ports_[i].queued_bytes)});
    }
    for (const QueuePair& qp : queue_pairs_) {
      if (!qp.is_open || qp.acked == qp.end || qp.link == kNone) continue;
      const int64_t window = qp.window_bytes;
      Append(statistics_.rates,
             RateSample{time, NodeId(qp.source), NodeId(qp.target), qp.channel,
                        qp.limits.rate, Bytes(window == kNever ? 0 : window)});
    }
    next_sample_ps_ += interval_ps;
  }
}

// Decides for all ports which packets have left them up to now.
void PacketNetwork::AdvanceAll() {
  for (uint32_t link = 0; link < ports_.size(); ++link) {
    Advance(link);
    Arm(link);
  }
  FinishEvent();
}

absl::Span<const double> PacketNetwork::link_bytes() {
  AdvanceAll();
  link_bytes_.resize(ports_.size());
  for (size_t i = 0; i < ports_.size(); ++i) {
    const Port& port = ports_[i];
    link_bytes_[i] = static_cast<double>(
        port.sent_data_bytes - port.sent_data_packets * header_bytes_);
  }
  return link_bytes_;
}

const NetworkStatistics& PacketNetwork::statistics() {
  AdvanceAll();
  for (size_t i = 0; i < ports_.size(); ++i) {
    const Port& port = ports_[i];
    LinkRecord& record = statistics_.links[i];
    record.bytes = static_cast<double>(port.sent_bytes);
    record.packets = port.sent_packets;
    record.busy = TimePs(port.busy_ps -
                         std::max<int64_t>(0, port.busy_until_ps - now_ps_));
    record.max_queue = Bytes(port.max_queued_bytes);
  }
  return statistics_;
}

std::string PacketNetwork::WhyStuck() const {
  for (const QueuePair& qp : queue_pairs_) {
    if (!qp.is_open || qp.acked == qp.end) continue;
    const std::string ends =
        fmt::format("{} to {}", topology_.NodeName(NodeId(qp.source)),
                    topology_.NodeName(NodeId(qp.target)));
    if (qp.link == kNone) {
      return fmt::format("no links that are up lead from {}", ends);
    }
    if (qp.has_given_up) {
      return fmt::format("{}: given up after {} retries", ends,
                         options_.nic.retries);
    }
    if (ports_[qp.link].is_paused) {
      return fmt::format("{}: {} is paused by PFC", ends,
                         topology_.LinkName(LinkId(qp.link)));
    }
  }
  return {};
}

}  // namespace astra
