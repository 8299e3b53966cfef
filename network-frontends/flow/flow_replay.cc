// The part of FlowBackend that lets collectives be counted again; see
// replay_support.h.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/flow/flow_backend.h"

namespace astra {

// With `end_batching`, any message that begins has all waiting capacity given
// away, so that collectives which share no link affect one another.
ReplaySupport* FlowBackend::replay() {
  const bool is_possible = options_.end_batching == TimePs() &&
                           !options_.record.flows && rate_factors_.empty();
  return is_possible ? this : nullptr;
}

bool FlowBackend::AppendPath(const Connection& connection,
                             std::vector<LinkId>* there,
                             std::vector<LinkId>* /*back*/) {
  const auto& [source, target, channel] = connection;
  return next_hops_.AppendEcmpPath(source, target,
                                   HashOfPath(source, target, channel), there);
}

void FlowBackend::AppendShape(LinkId link, std::vector<int64_t>* shape) const {
  const LinkType& type = topology_.type(link);
  shape->push_back(type.bandwidth.count());
  shape->push_back(type.latency.count());
}

bool FlowBackend::IsIdle(LinkId link) const {
  return fair_rates_.num_flows_on(link.index()) == 0;
}

bool FlowBackend::AreAtRest(absl::Span<const Connection> connections) const {
  return std::all_of(
      connections.begin(), connections.end(), [this](const Connection& c) {
        const auto known =
            connection_of_.find({KeyOf(c.source, c.target), c.channel});
        if (known == connection_of_.end()) return true;
        const QueuePair& queue_pair = connections_[known->second];
        return queue_pair.last == kNone && queue_pair.arrived <= now_;
      });
}

LinkTraffic FlowBackend::TrafficOf(LinkId link) const {
  LinkTraffic traffic;
  traffic.bytes = static_cast<uint64_t>(wire_bytes_[link.index()]);
  traffic.packets = statistics_.links[link.index()].packets;
  return traffic;
}

std::vector<LinkTraffic> FlowBackend::TrafficOf(
    absl::Span<const LinkId> links) {
  std::vector<LinkTraffic> traffic;
  for (const LinkId link : links) traffic.push_back(TrafficOf(link));
  return traffic;
}

void FlowBackend::StartMeasuring(absl::Span<const LinkId> links,
                                 absl::Span<const NodeId> switches) {
  before_.start = now_;
  before_.links.assign(links.begin(), links.end());
  before_.traffic.clear();
  before_.traffic = TrafficOf(links);
  before_.num_switches = switches.size();
  before_.counters = CountersOf(statistics_);
}

Measurement FlowBackend::Measure() {
  Measurement made;
  made.quiet = now_ - before_.start;
  for (size_t i = 0; i < before_.links.size(); ++i) {
    made.links.emplace_back().AddBetween(before_.traffic[i],
                                         TrafficOf(before_.links[i]), 1);
  }
  MeasureCounters(before_.counters, statistics_, &made);
  made.is_regular = true;
  return made;
}

Measurement FlowBackend::StopMeasuring(
    absl::Span<const Connection> connections) {
  Measurement made = Measure();
  made.peak_bytes.resize(before_.num_switches);
  made.is_regular = AreAtRest(connections);
  return made;
}

void FlowBackend::Replay(const Measurement& measured,
                         absl::Span<const LinkId> links,
                         absl::Span<const Connection> /*connections*/) {
  for (size_t i = 0; i < links.size(); ++i) {
    const LinkTraffic& traffic = measured.links[i];
    const uint32_t link = links[i].index();
    const uint64_t headers =
        traffic.packets * static_cast<uint64_t>(options_.header.count());
    wire_bytes_[link] += static_cast<double>(traffic.bytes);
    payload_bytes_[link] += static_cast<double>(traffic.bytes - headers);
    statistics_.links[link].packets += traffic.packets;
  }
  AddCounters(measured, &statistics_);
}

void FlowBackend::CountSimulated(uint64_t packet_hops, uint64_t events) {
  uint64_t& replayed = statistics_.num_replayed_hops;
  replayed -= std::min(replayed, packet_hops);
  statistics_.num_events += events;
}

// Messages that began at this instant get their rates first, since rates are
// solved for the instant that the clock shows.
void FlowBackend::GoBackTo(TimePs time, absl::Span<const LinkId> /*links*/) {
  if (!fair_rates_.is_solved()) Solve();
  present_deadlines_ = std::exchange(deadlines_, {});
  present_arrivals_ = std::exchange(arrivals_, {});
  now_ = time;
}

void FlowBackend::Return() {
  while (!deadlines_.empty()) {
    const auto [time, flow_class] = deadlines_.next();
    deadlines_.Remove(flow_class);
    present_deadlines_.Set(flow_class, time);
  }
  while (!arrivals_.empty()) present_arrivals_.Push(arrivals_.Pop());
  deadlines_ = std::exchange(present_deadlines_, {});
  arrivals_ = std::exchange(present_arrivals_, {});
}

}  // namespace astra
