#include "network-frontends/packet/records.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace astra {
namespace {

// Sorts records by a key. Records with equal keys keep their order.
template <class KeyOf, class Record>
void SortBy(const KeyOf& key_of, std::vector<Record>* records) {
  std::stable_sort(
      records->begin(), records->end(),
      [&](const Record& a, const Record& b) { return key_of(a) < key_of(b); });
}

}  // namespace

Records::Records(const PacketSetup& setup)
    : setup_(setup),
      options_(setup.options.record),
      has_cnps_(options_.cnp && setup.control->heeds_marks()),
      captured_(options_.captured_link.value_or(kNoId<LinkId>)) {
  const size_t num_links = setup.topology.links().size();
  statistics_.links.resize(num_links);
  paused_since_.assign(num_links, kNever);
  if (options_.sample_interval) next_sample_ = options_.sample_start;
}

void Records::CountDrop(LinkId link) {
  CountIrregular();
  ++OfLink(link).dropped;
  ++statistics_.num_drops;
}

void Records::CountLoss(LinkId link) {
  CountIrregular();
  ++OfLink(link).lost;
  ++statistics_.num_losses;
}

void Records::AddPause(LinkId link, bool is_pause, TimePs now) {
  CountIrregular();
  if (options_.pfc) Append(statistics_.pfc, PfcRecord{now, link, is_pause});
  TimePs& since = paused_since_[link.index()];
  if (is_pause) {
    ++OfLink(link).pauses;
    since = now;
  } else if (since != kNever) {
    OfLink(link).paused += now - since;
    since = kNever;
  }
}

void Records::AddMarkedAck(const QueuePair& qp, TimePs now) {
  if (!has_cnps_) return;
  Append(statistics_.cnps, CnpRecord{now, qp.source, qp.target, qp.channel});
}

void Records::AddFlow(const QueuePair& qp, const MessageState& message,
                      const LinkId* path, TimePs ideal, TimePs now) {
  const LinkId* end = path;
  while (*end != kNoId<LinkId>) ++end;
  const absl::Span<const LinkId> links(path, static_cast<size_t>(end - path));
  const FlowRecord record{.message = message.id,
                          .source = qp.source,
                          .target = qp.target,
                          .channel = qp.channel,
                          .retransmissions = message.retransmissions,
                          .num_links = static_cast<uint32_t>(links.size()),
                          .bytes = message.bytes,
                          .start = message.start,
                          .finish = now,
                          .ideal = ideal};
  if (log_) log_(record, links);
  if (options_.flows) Keep(record, links);
}

// Adds `record` of a message that took `path` to the statistics.
void Records::Keep(FlowRecord record, absl::Span<const LinkId> path) {
  record.path = statistics_.paths.size();
  if (statistics_.flows.size() < options_.max_records) {
    statistics_.paths.insert(statistics_.paths.end(), path.begin(), path.end());
  }
  Append(statistics_.flows, record);
}

void Records::AddCapture(const Packet& packet, const QueuePair* qp,
                         TimePs start) {
  CapturedPacket record;
  record.time = start;
  record.kind = static_cast<CapturedPacket::Kind>(packet.kind);
  record.is_marked = packet.has(Packet::kMarked);
  record.sequence = packet.number.index();
  record.wire_bytes = packet.size();
  if (qp != nullptr) {
    const bool is_back = packet.kind != PacketKind::kData;
    record.source = is_back ? qp->target : qp->source;
    record.target = is_back ? qp->source : qp->target;
    record.channel = qp->channel;
  } else {
    const Link& link = setup_.topology.link(captured_);
    record.source = link.source;
    record.target = link.target;
  }
  Append(statistics_.captured, record);
}

void Records::AddSample(LinkId link, const Port& port) {
  if (port.queued == Bytes()) return;
  Append(statistics_.queues, QueueSample{next_sample_, link, port.queued});
}

void Records::AddSample(const QueuePair& qp) {
  if (!qp.is_open || qp.acked == qp.end || qp.link == kNoId<LinkId>) return;
  const bool is_limited = qp.window != Bytes(INT64_MAX);
  Append(statistics_.rates,
         RateSample{next_sample_, qp.source, qp.target, qp.channel,
                    qp.limits.rate, is_limited ? qp.window : Bytes()});
}

void Records::EndSample() { next_sample_ += *options_.sample_interval; }

void Records::SkipSamples(TimePs up_to) {
  const int64_t interval = options_.sample_interval->count();
  const int64_t num_due =
      ((up_to - next_sample_).count() + interval - 1) / interval;
  next_sample_ += std::max<int64_t>(0, num_due) * *options_.sample_interval;
}

absl::Span<const double> Records::LinkBytes(const Ports& ports) {
  const auto header = static_cast<uint64_t>(setup_.header.count());
  link_bytes_.resize(ports.size());
  for (uint32_t i = 0; i < ports.size(); ++i) {
    const LinkTraffic traffic = ports[LinkId(i)].Traffic();
    link_bytes_[i] =
        static_cast<double>(traffic.data_bytes - traffic.data_packets * header);
  }
  return link_bytes_;
}

// Parts of the network may have gone on one after the other, so what they noted
// is not in order.
const NetworkStatistics& Records::Finish(const Ports& ports, TimePs now) {
  SortBy([](const PfcRecord& r) { return std::tie(r.time, r.link); },
         &statistics_.pfc);
  SortBy(
      [](const CnpRecord& r) {
        return std::tie(r.time, r.source, r.target, r.channel);
      },
      &statistics_.cnps);
  for (uint32_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[LinkId(i)];
    LinkRecord& record = OfLink(LinkId(i));
    const LinkTraffic traffic = port.Traffic();
    record.bytes = static_cast<double>(traffic.bytes);
    record.packets = traffic.packets;
    record.busy = traffic.busy - std::max(TimePs(), port.busy_until - now);
    record.max_queue = port.max_queued;
  }
  return statistics_;
}

}  // namespace astra
