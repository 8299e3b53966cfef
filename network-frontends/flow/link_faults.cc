// The part of FlowBackend that lets links change; see link_event.h.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/real.h"
#include "fmt/core.h"
#include "network-frontends/flow/flow_backend.h"

namespace astra {

Bandwidth FlowBackend::RateOf(LinkId link) const {
  const Bandwidth rate = topology_.type(link).bandwidth;
  if (rate_factors_.empty() || IsDown(link)) return rate;
  return Bandwidth(
      std::max<int64_t>(1, std::llround(static_cast<double>(rate.count()) *
                                        rate_factors_[link.index()])));
}

void FlowBackend::HandleLinkEvents() {
  while (!link_events_.empty() && link_events_.next().time == now_) {
    const Event due = link_events_.Pop();
    const LinkEvent& event = options_.link_events[due.index];
    if (due.kind == kReroute) {
      Reroute(event);
      continue;
    }
    ChangeLink(event);
    if (options_.reroute_delay == TimePs()) {
      Reroute(event);
    } else {
      link_events_.Push({now_ + options_.reroute_delay, kReroute, due.index});
    }
  }
}

// Keeps how long links have been busy at the rates that they had so far.
void FlowBackend::SettleBusyTimes() {
  const NetworkStatistics& now = statistics();
  for (uint32_t i = 0; i < settled_.size(); ++i) {
    const double bytes = now.links[i].bytes;
    settled_[i] = {bytes, BusyPs(LinkId(i), bytes)};
  }
}

void FlowBackend::ChangeLink(const LinkEvent& event) {
  SettleBusyTimes();
  for (const LinkId link : topology_.links_from(event.a)) {
    if (topology_.link(link).target != event.b) continue;
    SetUp(link, event.rate_factor);
    SetUp(Reverse(link), event.rate_factor);
  }
  for (uint32_t id = 0; id < classes_.size(); ++id) {
    UpdateClass(classes_[id]);
    if (classes_[id].is_down) Stall(id);
  }
  GoOnWithStalled();
}

void FlowBackend::SetUp(LinkId link, double rate_factor) {
  rate_factors_[link.index()] = rate_factor;
  if (rate_factor == 0) return;
  fair_rates_.SetCapacity(
      link.index(),
      static_cast<double>(RateOf(link).count()) * options_.efficiency);
  has_begun_ = true;  // Rates are solved at once.
}

// Takes the messages of a class off its links.
void FlowBackend::Stall(uint32_t flow_class) {
  FlowClass& c = classes_[flow_class];
  if (c.leaving.empty()) return;
  Serve(c);
  const std::vector<Leaving> leaving(c.leaving.begin(), c.leaving.end());
  for (const Leaving& each : leaving) {
    stalled_.push_back(
        {each.message, flow_class, std::max(0.0, each.end - c.served)});
  }
  LeaveClass(flow_class, leaving);
}

// Takes `leaving`, some of the messages of a class, out of it.
void FlowBackend::LeaveClass(uint32_t flow_class,
                             absl::Span<const Leaving> leaving) {
  FlowClass& c = classes_[flow_class];
  for (const Leaving& gone : leaving) {
    const auto place = std::find_if(
        c.leaving.begin(), c.leaving.end(),
        [&](const Leaving& each) { return each.message == gone.message; });
    c.leaving.erase(place);
  }
  std::make_heap(c.leaving.begin(), c.leaving.end(), std::greater<>());
  fair_rates_.AddFlows(flow_class, -static_cast<int64_t>(leaving.size()));
  touched_.push_back(flow_class);
  has_begun_ = true;
  if (c.leaving.empty()) {
    deadlines_.Remove(flow_class);
  } else {
    SetDeadline(flow_class);
  }
}

void FlowBackend::Reroute(const LinkEvent& event) {
  for (const LinkId link : topology_.links_from(event.a)) {
    if (topology_.link(link).target != event.b) continue;
    SetRoutes(link, !IsDown(link));
    SetRoutes(Reverse(link), !IsDown(link));
  }
  for (FlowClass& c : classes_) UpdateClass(c);
  RerouteConnections();
  GoOnWithStalled();
}

void FlowBackend::SetRoutes(LinkId link, bool is_up) {
  is_withdrawn_[link.index()] = !is_up;
  next_hops_.SetLinkUp(link, is_up);
}

// Gives every connection the path that its hash chooses now. Messages on other
// paths are stalled.
void FlowBackend::RerouteConnections() {
  for (QueuePair& connection : connections_) {
    const FlowClass& old = classes_[connection.flow_class];
    connection.flow_class =
        ClassOfConnection(old.source, old.target, connection.channel);
  }
  for (uint32_t id = 0; id < classes_.size(); ++id) {
    FlowClass& c = classes_[id];
    if (c.leaving.empty()) continue;
    Serve(c);
    std::vector<Leaving> leaving;
    for (const Leaving& each : c.leaving) {
      const uint32_t connection = messages_[each.message].connection;
      if (connections_[connection].flow_class == id) continue;
      leaving.push_back(each);
      stalled_.push_back(
          {each.message, id, std::max(0.0, each.end - c.served)});
    }
    if (!leaving.empty()) LeaveClass(id, leaving);
  }
}

// In the order of messages: what follows must not depend on what came before.
void FlowBackend::GoOnWithStalled() {
  std::vector<Stalled> stalled = std::exchange(stalled_, {});
  std::sort(
      stalled.begin(), stalled.end(),
      [](const Stalled& a, const Stalled& b) { return a.message < b.message; });
  for (const Stalled& each : stalled) GoOn(each);
}

// Lets a message go on along the path of its connection, or wait if that is
// down. Its links count its bytes in both cases, as they do those of messages
// that are sent behind it.
void FlowBackend::GoOn(const Stalled& stalled) {
  const uint32_t id =
      connections_[messages_[stalled.message].connection].flow_class;
  if (id != stalled.flow_class) MoveBytes(stalled, id);
  FlowClass& c = classes_[id];
  if (c.is_down) {
    stalled_.push_back({stalled.message, id, stalled.left});
    return;
  }
  Serve(c);
  c.leaving.push_back({c.served + stalled.left, stalled.message});
  std::push_heap(c.leaving.begin(), c.leaving.end(), std::greater<>());
  fair_rates_.AddFlows(id, 1);
  touched_.push_back(id);
  has_begun_ = true;
}

// Counts the bytes that a message, and those behind it, have still to send on
// the links of another class.
void FlowBackend::MoveBytes(const Stalled& stalled, uint32_t flow_class) {
  const double bytes = stalled.left + WireBytesBehind(stalled.message);
  const Bytes size = messages_[stalled.message].bytes;
  const double share =
      stalled.left / std::max(1.0, Real(WireBytes(size).count()));
  const double payload =
      share * Real(size.count()) + PayloadBehind(stalled.message);
  // Sums of reals are rounded: a link that loses all of its bytes has none
  // left, and not a little less than none.
  const auto take = [](double& counted, double moved) {
    counted = std::max(0.0, counted - moved);
  };
  for (const LinkId link : PathOf(classes_[stalled.flow_class])) {
    take(wire_bytes_[link.index()], bytes);
    take(payload_bytes_[link.index()], payload);
  }
  for (const LinkId link : PathOf(classes_[flow_class])) {
    wire_bytes_[link.index()] += bytes;
    payload_bytes_[link.index()] += payload;
  }
}

// Returns the bytes of the messages that wait until `message` has left.
double FlowBackend::PayloadBehind(uint32_t message) const {
  Bytes bytes;
  while ((message = messages_[message].next) != kNone) {
    bytes += messages_[message].bytes;
  }
  return Real(bytes.count());
}

std::string FlowBackend::WhyStuck() const {
  if (stalled_.empty()) return {};
  const InFlight& message = messages_[stalled_.front().message];
  const FlowClass& c = classes_[connections_[message.connection].flow_class];
  for (const LinkId link : PathOf(c)) {
    if (!IsDown(link)) continue;
    return fmt::format("no path leads from {} to {}: {} is down",
                       topology_.NodeName(c.source),
                       topology_.NodeName(c.target), topology_.LinkName(link));
  }
  return {};
}

}  // namespace astra
