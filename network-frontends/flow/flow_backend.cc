#include "network-frontends/flow/flow_backend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {
namespace {

constexpr double kBitPicosecondsPerByteSecond = 8e12;

// Time in ps by which a message may be early when it counts as having left.
constexpr double kRounding = 1e-3;

// Longest time to a deadline, beyond any simulated instant. A later deadline is
// set to this time and moved before it comes.
constexpr double kLatest = 4e18;

// Served bytes at which a class counts from 0 again. Doubles resolve 2^40 bytes
// to 2^-12 bytes, a fraction of a picosecond.
constexpr double kMostServed = 0x1p40;

std::vector<double> Capacities(const Topology& topology, double efficiency) {
  ASTRA_CHECK(efficiency > 0 && efficiency <= 1, "efficiency {}", efficiency);
  std::vector<double> capacities;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Bandwidth rate = topology.type(LinkId(i)).bandwidth;
    capacities.push_back(static_cast<double>(rate.count()) * efficiency);
  }
  return capacities;
}

}  // namespace

FlowBackend::FlowBackend(const Topology& topology, const FlowOptions& options)
    : topology_(topology),
      options_(options),
      next_hops_(topology),
      fair_rates_(Capacities(topology, options.efficiency)),
      wire_bytes_(topology.links().size()),
      payload_bytes_(topology.links().size()) {
  ASTRA_CHECK(options.payload > Bytes(0), "payload {}", options.payload);
  ASTRA_CHECK(options.header >= Bytes(0), "header {}", options.header);
  statistics_.links.resize(topology.links().size());
  if (options.link_events.empty()) return;
  rate_factors_.assign(topology.links().size(), 1);
  is_withdrawn_.resize(topology.links().size());
  settled_.resize(topology.links().size());
  for (uint32_t i = 0; i < options.link_events.size(); ++i) {
    link_events_.Push({options.link_events[i].time, kLinkChange, i});
  }
  HandleLinkEvents();
}

int64_t FlowBackend::NumPackets(Bytes bytes) const {
  const int64_t payload = options_.payload.count();
  return (bytes.count() + payload - 1) / payload;
}

Bytes FlowBackend::WireBytes(Bytes bytes) const {
  return bytes + NumPackets(bytes) * options_.header;
}

// Returns the time of a packet of `packet` wire bytes on all links but the
// slowest.
TimePs FlowBackend::PacketLatency(const FlowClass& c, Bytes packet) const {
  TimePs latency;
  for (const LinkId link : PathOf(c)) {
    latency += TransferTime(packet, RateOf(link));
  }
  return latency - TransferTime(packet, c.slowest);
}

// Returns the time from when the last of `bytes` has left until it arrives.
TimePs FlowBackend::Latency(const FlowClass& c, Bytes bytes) const {
  if (bytes >= options_.payload) return c.latency + c.packet_latency;
  return c.latency + PacketLatency(c, WireBytes(bytes));
}

uint64_t FlowBackend::HashOfPath(NodeId source, NodeId target,
                                 uint32_t channel) const {
  return HashOf(options_.seed, KeyOf(source, target), channel);
}

uint32_t FlowBackend::ConnectionOf(const Message& message) {
  const uint64_t ends = KeyOf(message.source, message.target);
  const auto [known, is_new] = connection_of_.try_emplace(
      {ends, message.channel}, static_cast<uint32_t>(connections_.size()));
  if (is_new) {
    connections_.push_back(
        {.flow_class =
             ClassOfConnection(message.source, message.target, message.channel),
         .channel = message.channel,
         .last = kNone,
         .arrived = {}});
  }
  return known->second;
}

// Returns the class of the path that the hash of a connection chooses. Where no
// path is up, the connection has that of a network without faults, and waits.
uint32_t FlowBackend::ClassOfConnection(NodeId source, NodeId target,
                                        uint32_t channel) {
  const uint64_t hash = HashOfPath(source, target, channel);
  path_.clear();
  if (!next_hops_.AppendEcmpPath(source, target, hash, &path_)) {
    NextHops without_faults(topology_);
    const bool is_found =
        without_faults.AppendEcmpPath(source, target, hash, &path_);
    ASTRA_CHECK(is_found, "no path from {} to {}", source, target);
  }
  return ClassOfPath(source, target, path_);
}

uint32_t FlowBackend::ClassOfPath(NodeId source, NodeId target,
                                  absl::Span<const LinkId> path) {
  uint32_t& first =
      first_class_of_.try_emplace(KeyOf(source, target), kNone).first->second;
  for (uint32_t id = first; id != kNone; id = classes_[id].next) {
    if (PathOf(classes_[id]) == path) return id;
  }
  AddClass(source, target, path);
  classes_.back().next = first;
  return first = static_cast<uint32_t>(classes_.size() - 1);
}

void FlowBackend::AddClass(NodeId source, NodeId target,
                           absl::Span<const LinkId> path) {
  FlowClass& c = classes_.emplace_back();
  c.source = source;
  c.target = target;
  c.first_link = static_cast<uint32_t>(paths_.size());
  c.num_links = static_cast<uint32_t>(path.size());
  paths_.insert(paths_.end(), path.begin(), path.end());
  std::vector<uint32_t> links;
  links.reserve(path.size());
  for (const LinkId link : path) links.push_back(link.index());
  UpdateClass(c);
  const uint32_t rates = fair_rates_.AddClass(links);
  ASTRA_DCHECK(rates + 1 == classes_.size(), "rates {}", rates);
}

// Sets what follows from the rates of the links of `c`.
void FlowBackend::UpdateClass(FlowClass& c) const {
  const absl::Span<const LinkId> path = PathOf(c);
  c.slowest = RateOf(path.front());
  c.latency = options_.message_latency;
  c.is_down = false;
  for (const LinkId link : path.first(path.size() - 1)) {
    const NodeId node = topology_.link(link).target;
    c.latency += topology_.kind(node) == NodeKind::kNvSwitch
                     ? options_.nv_switch_latency
                     : options_.switch_latency;
  }
  for (const LinkId link : path) {
    c.slowest = std::min(c.slowest, RateOf(link));
    c.latency += topology_.type(link).latency;
    c.is_down = c.is_down || IsDown(link) || IsWithdrawn(link);
  }
  c.packet_latency = PacketLatency(c, options_.payload + options_.header);
}

uint32_t FlowBackend::TakePlace() {
  if (unused_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<uint32_t>(messages_.size() - 1);
  }
  const uint32_t place = unused_messages_.back();
  unused_messages_.pop_back();
  return place;
}

void FlowBackend::CountBytes(const FlowClass& c, Bytes bytes) {
  const auto wire = static_cast<double>(WireBytes(bytes).count());
  const auto num_packets = static_cast<uint64_t>(NumPackets(bytes));
  for (const LinkId link : PathOf(c)) {
    wire_bytes_[link.index()] += wire;
    payload_bytes_[link.index()] += static_cast<double>(bytes.count());
    statistics_.links[link.index()].packets += num_packets;
  }
  statistics_.num_data_packets += num_packets;
  statistics_.num_packet_hops += num_packets * c.num_links;
}

void FlowBackend::Send(const Message& message) {
  const uint32_t id = ConnectionOf(message);
  QueuePair& connection = connections_[id];
  FlowClass& c = classes_[connection.flow_class];
  const uint32_t place = TakePlace();
  messages_[place] = {message.id, id, kNone, message.bytes, now_};
  CountBytes(c, message.bytes);
  const uint32_t before = std::exchange(connection.last, place);
  if (before != kNone) {
    messages_[before].next = place;
  } else if (message.bytes == Bytes(0)) {
    EndLeaving(place);
  } else if (c.is_down) {
    stalled_.push_back({place, connection.flow_class,
                        static_cast<double>(WireBytes(message.bytes).count())});
  } else {
    Serve(c);
    BeginLeaving(place, c.served);
    has_begun_ = true;
    fair_rates_.AddFlows(connection.flow_class, 1);
    touched_.push_back(connection.flow_class);
  }
}

// Lets the message leave once its class has been served `after` bytes.
void FlowBackend::BeginLeaving(uint32_t message, double after) {
  const InFlight& m = messages_[message];
  FlowClass& c = classes_[connections_[m.connection].flow_class];
  const auto wire = static_cast<double>(WireBytes(m.bytes).count());
  c.leaving.push_back({after + wire, message});
  std::push_heap(c.leaving.begin(), c.leaving.end(), std::greater<>());
}

// Ends a message that has left by now. Returns the next message of its
// connection, or kNone. A short message passes the links faster but overtakes
// no other.
uint32_t FlowBackend::EndLeaving(uint32_t message) {
  const InFlight& m = messages_[message];
  QueuePair& connection = connections_[m.connection];
  const FlowClass& c = classes_[connection.flow_class];
  connection.arrived = std::max(connection.arrived, now_ + Latency(c, m.bytes));
  arrivals_.Push({connection.arrived, m.id.index(), message});
  if (m.next == kNone) connection.last = kNone;
  return m.next;
}

// Returns the bytes that each flow of `c` has been served up to now.
double FlowBackend::ServedBy(const FlowClass& c) const {
  const auto time = static_cast<double>((now_ - c.updated).count());
  return c.served + c.rate * time / kBitPicosecondsPerByteSecond;
}

void FlowBackend::Serve(FlowClass& c) const {
  c.served = c.leaving.empty() ? 0 : ServedBy(c);
  c.updated = now_;
  if (c.served < kMostServed) return;
  for (Leaving& flow : c.leaving) flow.end -= c.served;
  c.served = 0;
}

TimePs FlowBackend::TimeToServe(const FlowClass& c, double bytes) {
  const double time = bytes * kBitPicosecondsPerByteSecond / c.rate;
  return TimePs(static_cast<int64_t>(
      std::clamp(std::ceil(time - kRounding), 0.0, kLatest)));
}

bool FlowBackend::MustSolve() const {
  return !fair_rates_.is_solved() && (has_begun_ || now_ >= solve_at_);
}

// Solves the rates once for all flows that have begun or ended since.
void FlowBackend::Solve() {
  has_begun_ = false;
  changed_.clear();
  fair_rates_.Solve(&changed_);
  for (const uint32_t id : changed_) {
    Serve(classes_[id]);
    classes_[id].rate = fair_rates_.rate(id);
    SetDeadline(id);
  }
  for (const uint32_t id : touched_) {
    if (classes_[id].leaving.empty()) {
      classes_[id].rate = 0;
      deadlines_.Remove(id);
    } else {
      SetDeadline(id);
    }
  }
  touched_.clear();
}

// Sets the deadline of the class, always after now: messages that have left by
// now are no longer in `leaving`.
void FlowBackend::SetDeadline(uint32_t flow_class) {
  const FlowClass& c = classes_[flow_class];
  const TimePs time = TimeToServe(c, c.leaving.front().end - c.served);
  const TimePs least = now_ - c.updated + TimePs(1);
  deadlines_.Set(flow_class, c.updated + std::max(time, least));
}

// Takes out the messages of the class that have left by now, at least one. The
// next message of a connection then leaves in its place, so no rate changes.
void FlowBackend::EndFlows(uint32_t flow_class) {
  FlowClass& c = classes_[flow_class];
  Serve(c);
  int64_t num_ended = 0;
  do {
    std::pop_heap(c.leaving.begin(), c.leaving.end(), std::greater<>());
    const Leaving left = c.leaving.back();
    c.leaving.pop_back();
    ++statistics_.num_events;
    const uint32_t next = EndLeaving(left.message);
    if (next == kNone) {
      ++num_ended;
    } else {
      BeginLeaving(next, left.end);
    }
  } while (!c.leaving.empty() &&
           TimeToServe(c, c.leaving.front().end - c.served) == TimePs(0));
  if (num_ended > 0) {
    if (fair_rates_.is_solved()) solve_at_ = now_ + options_.end_batching;
    fair_rates_.AddFlows(flow_class, -num_ended);
    touched_.push_back(flow_class);
  }
  if (c.leaving.empty()) {
    deadlines_.Remove(flow_class);
  } else {
    SetDeadline(flow_class);
  }
}

std::optional<TimePs> FlowBackend::NextInstant() const {
  std::optional<TimePs> next;
  const auto consider = [&next](TimePs time) {
    if (!next || time < *next) next = time;
  };
  if (!fair_rates_.is_solved()) consider(solve_at_);
  if (!link_events_.empty()) consider(link_events_.next().time);
  if (!deadlines_.empty()) consider(deadlines_.next().time);
  if (!arrivals_.empty()) consider(arrivals_.next().time);
  return next;
}

void FlowBackend::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  ASTRA_CHECK(limit >= now_, "{} is before {}", limit, now_);
  const size_t num_before = arrived->size();
  while (arrived->size() == num_before) {
    if (MustSolve()) Solve();
    const std::optional<TimePs> next = NextInstant();
    if (!next || *next > limit) {
      now_ = limit;
      return;
    }
    now_ = *next;
    HandleLinkEvents();
    while (!deadlines_.empty() && deadlines_.next().time == now_) {
      EndFlows(deadlines_.next().index);
    }
    while (!arrivals_.empty() && arrivals_.next().time == now_) {
      const Event arrival = arrivals_.Pop();
      arrived->push_back(MessageId(arrival.kind));
      Arrive(arrival.index);
    }
  }
}

void FlowBackend::Arrive(uint32_t message) {
  ++statistics_.num_events;
  ++statistics_.num_flows;
  if (log_ || options_.record.flows) Record(messages_[message]);
  unused_messages_.push_back(message);
}

FlowRecord FlowBackend::RecordOf(const InFlight& message) const {
  const QueuePair& connection = connections_[message.connection];
  const FlowClass& c = classes_[connection.flow_class];
  FlowRecord record;
  record.message = message.id;
  record.source = c.source;
  record.target = c.target;
  record.channel = connection.channel;
  record.num_links = c.num_links;
  record.bytes = message.bytes;
  record.start = message.start;
  record.finish = now_;
  FlowClass alone;
  alone.rate = static_cast<double>(c.slowest.count()) * options_.efficiency;
  const auto wire = static_cast<double>(WireBytes(message.bytes).count());
  record.ideal =
      std::max(TimePs(1), TimeToServe(alone, wire) + Latency(c, message.bytes));
  return record;
}

void FlowBackend::Record(const InFlight& message) {
  FlowClass& c = classes_[connections_[message.connection].flow_class];
  const FlowRecord record = RecordOf(message);
  if (log_) log_(record, PathOf(c));
  if (options_.record.flows) Keep(record, c);
}

// Adds `record` of a message of `c` to the statistics.
void FlowBackend::Keep(FlowRecord record, FlowClass& c) {
  if (statistics_.flows.size() >= options_.record.max_records) {
    ++statistics_.num_lost_records;
    return;
  }
  if (c.record == 0) {
    c.record = statistics_.paths.size() + 1;
    const absl::Span<const LinkId> path = PathOf(c);
    statistics_.paths.insert(statistics_.paths.end(), path.begin(), path.end());
  }
  record.path = c.record - 1;
  statistics_.flows.push_back(record);
}

// Returns the wire bytes of the messages that wait until `message` has left.
double FlowBackend::WireBytesBehind(uint32_t message) const {
  Bytes bytes;
  while ((message = messages_[message].next) != kNone) {
    bytes += WireBytes(messages_[message].bytes);
  }
  return static_cast<double>(bytes.count());
}

// Returns for how long the link has sent, once it has sent `bytes`.
double FlowBackend::BusyPs(LinkId link, double bytes) const {
  Settled settled;
  if (!settled_.empty()) settled = settled_[link.index()];
  return settled.busy_ps + (bytes - settled.bytes) *
                               kBitPicosecondsPerByteSecond /
                               static_cast<double>(RateOf(link).count());
}

const NetworkStatistics& FlowBackend::statistics() {
  for (size_t i = 0; i < wire_bytes_.size(); ++i) {
    statistics_.links[i].bytes = wire_bytes_[i];
  }
  for (const FlowClass& c : classes_) {
    double waiting = 0;
    for (const Leaving& flow : c.leaving) {
      waiting +=
          std::max(0.0, flow.end - ServedBy(c)) + WireBytesBehind(flow.message);
    }
    for (const LinkId link : PathOf(c)) {
      statistics_.links[link.index()].bytes -= waiting;
    }
  }
  for (const auto& [message, flow_class, left] : stalled_) {
    const double waiting = left + WireBytesBehind(message);
    for (const LinkId link : PathOf(classes_[flow_class])) {
      statistics_.links[link.index()].bytes -= waiting;
    }
  }
  for (uint32_t i = 0; i < wire_bytes_.size(); ++i) {
    LinkRecord& link = statistics_.links[i];
    link.bytes = std::max(0.0, link.bytes);  // Sums of reals are rounded.
    link.busy = TimePs(std::llround(BusyPs(LinkId(i), link.bytes)));
  }
  return statistics_;
}

}  // namespace astra
