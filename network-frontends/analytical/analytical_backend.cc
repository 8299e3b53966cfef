#include "network-frontends/analytical/analytical_backend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/units.h"

namespace astra {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr double kBitPicosecondsPerByteSecond = 8e12;

// Time in ps by which a message may be early when it counts as having left.
constexpr double kRounding = 1e-3;

// Longest time to a deadline. A later one is set to this and moved before it
// comes.
constexpr double kLatest = 4e18;

}  // namespace

const AnalyticalBackend::Path& AnalyticalBackend::PathBetween(NodeId source,
                                                              NodeId target) {
  const uint64_t key = uint64_t{source.index()} << 32 | target.index();
  std::unique_ptr<Path>& path = paths_[key];
  if (path != nullptr) return *path;

  absl::StatusOr<Route> route = routes_.FindNodes(source, target);
  ASTRA_CHECK(route.ok(), "{}", route.status().ToString());
  path = std::make_unique<Path>();
  path->bottleneck = routes_.BottleneckBandwidth(*route);
  Route first_links;
  first_links.first = routes_.FirstLinks(*route);
  path->port = first_links.first.front().link;
  path->port_bandwidth = routes_.BottleneckBandwidth(first_links);
  path->route = *std::move(route);
  return *path;
}

void AnalyticalBackend::CountBytes(const Route& route, Bytes bytes) {
  const auto volume = static_cast<double>(bytes.count());
  const auto add = [&](const LinkShares& links) {
    for (const LinkShare& part : links) {
      link_bytes_[part.link.index()] += volume * part.share;
    }
  };
  add(route.first);
  for (const Route::Part& part : route.parts) {
    for (const LinkRun& run : routes_.fabric_route(part.fabric).links) {
      for (uint32_t i = 0; i < run.count; ++i) {
        link_bytes_[run.link(i).index()] += volume * part.share * run.share;
      }
    }
  }
  add(route.last);
}

uint32_t AnalyticalBackend::ConnectionOf(const Message& message) {
  const uint64_t ends =
      uint64_t{message.source.index()} << 32 | message.target.index();
  const auto [known, is_new] = connection_of_.try_emplace(
      {ends, message.channel}, static_cast<uint32_t>(connections_.size()));
  if (is_new) {
    const Path& path = PathBetween(message.source, message.target);
    connections_.push_back({.path = &path, .last = kNone, .arrived = {}});
    PortOf(connections_.back()).rate = path.port_bandwidth;
  }
  return known->second;
}

uint32_t AnalyticalBackend::TakePlace() {
  if (unused_places_.empty()) {
    waiting_.emplace_back();
    return static_cast<uint32_t>(waiting_.size() - 1);
  }
  const uint32_t place = unused_places_.back();
  unused_places_.pop_back();
  return place;
}

void AnalyticalBackend::Send(const Message& message) {
  const uint32_t id = ConnectionOf(message);
  Connection& connection = connections_[id];
  CountBytes(connection.path->route, message.bytes);
  const uint32_t place = TakePlace();
  waiting_[place] = {message.id, message.bytes, id, kNone};
  const uint32_t before = std::exchange(connection.last, place);
  if (before != kNone) {
    waiting_[before].next = place;
  } else if (message.bytes == Bytes(0)) {
    EndLeaving(place);
  } else {
    Port& port = PortOf(connection);
    Serve(port);
    BeginLeaving(place, port.served);
    SetDeadline(port);
  }
}

// Brings the port to the present. An idle port counts from 0 again, so that a
// message that is alone is free of rounding from earlier messages.
void AnalyticalBackend::Serve(Port& port) const {
  if (port.leaving.empty()) {
    port.served = 0;
  } else {
    const auto time = static_cast<double>((now_ - port.updated).count());
    port.served += time * static_cast<double>(port.rate.count()) /
                   (kBitPicosecondsPerByteSecond *
                    static_cast<double>(port.leaving.size()));
  }
  port.updated = now_;
}

TimePs AnalyticalBackend::TimeToServe(const Port& port, double bytes) {
  const double time = bytes * kBitPicosecondsPerByteSecond *
                      static_cast<double>(port.leaving.size()) /
                      static_cast<double>(port.rate.count());
  return TimePs(static_cast<int64_t>(
      std::clamp(std::ceil(time - kRounding), 0.0, kLatest)));
}

// Sets the deadline after the present: messages that have left by now are no
// longer in `leaving`.
void AnalyticalBackend::SetDeadline(Port& port) {
  const TimePs time = TimeToServe(port, port.leaving.front().end - port.served);
  port.deadline = now_ + std::max(time, TimePs(1));
  const auto index = static_cast<uint32_t>(&port - ports_.data());
  deadlines_.Push({.time = port.deadline, .index = index});
}

// Lets the message leave once its port has served `after` bytes.
void AnalyticalBackend::BeginLeaving(uint32_t message, double after) {
  const Waiting& m = waiting_[message];
  Port& port = PortOf(connections_[m.connection]);
  port.leaving.push_back(
      {after + static_cast<double>(m.bytes.count()), message});
  std::push_heap(port.leaving.begin(), port.leaving.end(), std::greater<>());
}

// Ends a message that has left by now. Returns the next message of its
// connection, or kNone. No message overtakes another one behind a slower link.
uint32_t AnalyticalBackend::EndLeaving(uint32_t message) {
  const Waiting m = waiting_[message];
  Connection& connection = connections_[m.connection];
  const Path& path = *connection.path;
  const TimePs behind_port = TransferTime(m.bytes, path.bottleneck) -
                             TransferTime(m.bytes, path.port_bandwidth);
  connection.arrived =
      std::max(connection.arrived, now_ + path.route.latency + behind_port);
  arrivals_.Push({.time = connection.arrived, .index = m.id.index()});
  if (m.next == kNone) connection.last = kNone;
  unused_places_.push_back(message);
  return m.next;
}

// Takes out the messages of the port that have left by now. The next message of
// a connection leaves in its place.
void AnalyticalBackend::EndMessages(Port& port) {
  Serve(port);
  while (!port.leaving.empty() &&
         TimeToServe(port, port.leaving.front().end - port.served) ==
             TimePs(0)) {
    std::pop_heap(port.leaving.begin(), port.leaving.end(), std::greater<>());
    const Leaving left = port.leaving.back();
    port.leaving.pop_back();
    uint32_t next = EndLeaving(left.message);
    while (next != kNone && waiting_[next].bytes == Bytes(0)) {
      next = EndLeaving(next);
    }
    if (next != kNone) BeginLeaving(next, left.end);
  }
  if (!port.leaving.empty()) SetDeadline(port);
}

void AnalyticalBackend::AdvanceTo(TimePs limit,
                                  std::vector<MessageId>* arrived) {
  ASTRA_CHECK(limit >= now_, "{} is before {}", limit, now_);
  while (true) {
    const TimePs leave = deadlines_.empty() ? kNever : deadlines_.next().time;
    const TimePs arrive = arrivals_.empty() ? kNever : arrivals_.next().time;
    const TimePs next = std::min(leave, arrive);
    if (next > limit || next == kNever) {
      now_ = limit;
      return;
    }
    if (leave > arrive) break;
    const uint32_t port = deadlines_.Pop().index;
    ++statistics_.num_events;
    if (ports_[port].leaving.empty() || ports_[port].deadline != leave) {
      continue;  // The deadline was moved.
    }
    now_ = leave;
    EndMessages(ports_[port]);
  }
  now_ = arrivals_.next().time;
  while (!arrivals_.empty() && arrivals_.next().time == now_) {
    arrived->push_back(MessageId(arrivals_.Pop().index));
    ++statistics_.num_events;
    ++num_arrived_;
  }
}

const NetworkStatistics& AnalyticalBackend::statistics() {
  statistics_.links.resize(link_bytes_.size());
  for (size_t i = 0; i < link_bytes_.size(); ++i) {
    statistics_.links[i].bytes = link_bytes_[i];
  }
  return statistics_;
}

}  // namespace astra
