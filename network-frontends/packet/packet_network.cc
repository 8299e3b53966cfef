#include "network-frontends/packet/packet_network.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "network-frontends/packet/congestion/registry.h"

namespace astra {
PacketNetwork::PacketNetwork(const Topology& topology,
                             const PacketOptions& options)
    : topology_(topology), options_(options), next_hops_(topology) {
  const auto control = FindCongestionControl(options.congestion.name);
  ASTRA_CHECK(control.ok(), "{}", control.status().ToString());
  control_ = (*control)->make(options.congestion);
  has_telemetry_ = control_->telemetry() != Telemetry::kNone;
  has_hops_ = control_->telemetry() == Telemetry::kPerHop;
  has_utilization_ = control_->telemetry() == Telemetry::kUtilization;
  has_cnps_ = options.record.cnp && control_->heeds_marks();
  paces_anew_ = control_->paces_anew();
  const int64_t extra = control_->header_bytes(TelemetrySlot::kMaxHops);
  header_bytes_ = static_cast<uint32_t>(options.nic.header.count() + extra);
  ack_bytes_ = static_cast<uint32_t>(options.nic.ack.count() + extra);
  payload_bytes_ = static_cast<uint32_t>(options.nic.payload.count());
  SetUpPorts();
  SetUpSwitches();
  SetUpMarking();
  SetUpWindow();
  for (uint32_t i = 0; i < options_.link_events.size(); ++i) {
    const int64_t time_ps = options_.link_events[i].time.count();
    if (time_ps == 0) {
      OnLinkChange(i);
    } else {
      Push(time_ps, EventKind::kLinkChange, i);
    }
  }
  for (uint32_t i = 0; i < options_.background.size(); ++i) {
    Push(options_.background[i].start.count(), EventKind::kBackground, i);
  }
  if (options_.record.sample_interval) {
    next_sample_ps_ = options_.record.sample_start.count();
  }
}

PacketNetwork::~PacketNetwork() = default;

void PacketNetwork::SetUpPorts() {
  const size_t num_links = topology_.links().size();
  ASTRA_CHECK(num_links < (uint64_t{1} << kIndexBits), "{} links", num_links);
  // From this number on, the ports no longer fit the second-level cache.
  constexpr size_t kManyLinks = 1024;
  is_large_ = num_links >= kManyLinks;
  ports_ = std::vector<Port>(num_links);
  ingress_.resize(num_links);
  paused_since_ps_.assign(num_links, kNever);
  if (has_utilization_) utilization_.resize(num_links);
  statistics_.links.resize(num_links);
  for (uint32_t i = 0; i < num_links; ++i) {
    const Link& link = topology_.link(LinkId(i));
    Port& port = ports_[i];
    port.source = link.source.index();
    port.target = link.target.index();
    port.propagation_ps = topology_.type(LinkId(i)).latency.count();
    port.has_errors = ErrorRateOf(i) > 0;
    port.resolution_ps = options_.time_resolution.count();
    if (topology_.kind(link.target) != NodeKind::kGpu) {
      const bool is_fabric = topology_.kind(link.target) == NodeKind::kSwitch;
      const SwitchOptions& far =
          is_fabric ? options_.fabric : options_.nv_switch;
      port.propagation_ps += far.latency.count();
      port.cuts_through = far.switching == Switching::kCutThrough;
    }
    SetRate(i, 1);
  }
}

double PacketNetwork::ErrorRateOf(uint32_t link) const {
  const double own = topology_.type(LinkId(link)).error_rate;
  return own > 0 ? own : options_.error_rate;
}

// Sets up the buffers of switches: reserves and headrooms come out of the
// buffer, and the rest is shared.
void PacketNetwork::SetUpSwitches() {
  for (uint32_t n = topology_.num_gpus(); n < topology_.num_nodes(); ++n) {
    const bool is_fabric = topology_.kind(NodeId(n)) == NodeKind::kSwitch;
    const SwitchOptions& options =
        is_fabric ? options_.fabric : options_.nv_switch;
    Switch made;
    made.node = n;
    SharedBuffer& buffer = made.buffer;
    buffer.is_lossless = options.pfc;
    buffer.share = options.buffer_share;
    buffer.resume_offset_bytes = options.resume_offset.count();
    buffer.shared_bytes = options.buffer.count();
    if (options.pfc) buffer.reserve_bytes = options.reserve.count();
    for (const LinkId out : topology_.links_from(NodeId(n))) {
      Port& port = ports_[out.index()];
      port.switch_index = static_cast<uint32_t>(switches_.size());
      port.marks = options.ecn;
      if (!options.pfc) continue;
      const uint32_t in = out.index() ^ 1;
      ingress_[in].headroom_bytes = HeadroomOf(in, options);
      buffer.shared_bytes -= ingress_[in].headroom_bytes + buffer.reserve_bytes;
    }
    // If headrooms use up the whole buffer, ports have only their reserve and
    // headroom.
    buffer.shared_bytes = std::max<int64_t>(buffer.shared_bytes, 0);
    switches_.push_back(made);
  }
}

// Returns the bytes that may still arrive on a link after its target has told
// the source to pause: bytes that are on the way while the frame is, a packet
// that has begun, and one that the frame waits for.
int64_t PacketNetwork::HeadroomOf(uint32_t link,
                                  const SwitchOptions& options) const {
  const double both_ways_ps = static_cast<double>(
      ports_[link].propagation_ps + ports_[link ^ 1].propagation_ps);
  const double bytes_per_ps =
      static_cast<double>(ports_[link].nominal_bps) / 8e12;
  return std::llround(options.headroom_factor / 2 * both_ways_ps *
                      bytes_per_ps) +
         2 * (int64_t{payload_bytes_} + header_bytes_) +
         options.headroom_extra.count();
}

// Sets up the marking profile of each link from the thresholds of the nearest
// rate, scaled.
void PacketNetwork::SetUpMarking() {
  link_profile_.resize(ports_.size());
  std::vector<std::pair<int64_t, bool>> known;  // Rate; true: of the fabric.
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    const Link& link = topology_.link(LinkId(i));
    const int64_t rate = topology_.type(LinkId(i)).bandwidth.count();
    const bool is_fabric = topology_.kind(link.source) == NodeKind::kSwitch;
    const std::pair<int64_t, bool> key(rate, is_fabric);
    const auto found = std::find(known.begin(), known.end(), key);
    link_profile_[i] = static_cast<uint32_t>(found - known.begin());
    if (found != known.end()) continue;
    known.push_back(key);
    const std::vector<EcnThresholds>& given =
        is_fabric ? options_.fabric.ecn_thresholds
                  : options_.nv_switch.ecn_thresholds;
    if (given.empty()) {
      profiles_.push_back({kNever, kNever, 0});
      continue;
    }
    // Distance of two rates: the logarithm of their ratio.
    const auto distance = [rate](const EcnThresholds& thresholds) {
      const auto of = static_cast<double>(thresholds.rate.count());
      return std::abs(std::log(of / static_cast<double>(rate)));
    };
    const EcnThresholds& nearest =
        *std::min_element(given.begin(), given.end(),
                          [&](const EcnThresholds& a, const EcnThresholds& b) {
                            return distance(a) < distance(b);
                          });
    const double scale =
        static_cast<double>(rate) / static_cast<double>(nearest.rate.count());
    const auto scaled = [scale](Bytes bytes) {
      return std::llround(scale * static_cast<double>(bytes.count()));
    };
    profiles_.push_back({scaled(nearest.min_queue), scaled(nearest.max_queue),
                         nearest.max_probability});
  }
}

void PacketNetwork::Push(int64_t time_ps, EventKind kind, uint32_t index) {
  agenda_.Push(time_ps, static_cast<uint32_t>(kind) << kIndexBits | index);
}

void PacketNetwork::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  const bool is_endless = limit.count() == kNever;
  while (!agenda_.empty() && !(is_endless && num_in_flight_ == 0)) {
    if (!agenda_.HasUntil(limit.count())) break;
    const Agenda::Entry entry = agenda_.next();
    if (entry.time_ps > limit.count()) break;
    ASTRA_CHECK(entry.time_ps >= now_ps_, "time goes from {} to {} ps", now_ps_,
                entry.time_ps);
    if (entry.time_ps > now_ps_ && !arrived_.empty()) break;
    if (is_large_) Prefetch();
    agenda_.Pop();
    if (entry.time_ps > next_sample_ps_) TakeSamples(entry.time_ps);
    now_ps_ = entry.time_ps;
    ++statistics_.num_events;
    Handle(entry.key);
    if (!pauses_.empty()) FinishEvent();
  }
  if (arrived_.empty()) {
    now_ps_ = limit.count();
    return;
  }
  std::sort(arrived_.begin(), arrived_.end());
  arrived->insert(arrived->end(), arrived_.begin(), arrived_.end());
  num_in_flight_ -= arrived_.size();
  arrived_.clear();
}

void PacketNetwork::Handle(uint32_t key) {
  const uint32_t index = key & kIndexMask;
  switch (static_cast<EventKind>(key >> kIndexBits)) {
    case EventKind::kLink:
      return OnLink(index);
    case EventKind::kTimer:
      return OnTimer(index);
    case EventKind::kTimeout:
      return OnTimeout(index);
    case EventKind::kLinkChange:
      return OnLinkChange(index);
    case EventKind::kBackground:
      return OnBackground(index);
  }
}

// Fetches into the cache what later events will read: the ports of the next
// bucket, the packets of this one, and the paths and next ports of the very
// next events. Results do not depend on it.
void PacketNetwork::Prefetch() {
  const auto port_of = [this](const Agenda::Entry& entry) -> const Port* {
    constexpr auto kLink = static_cast<uint32_t>(EventKind::kLink);
    if (entry.key >> kIndexBits != kLink) return nullptr;
    return &ports_[entry.key & kIndexMask];
  };
  if (agenda_.num_opened() != num_prefetched_) {
    num_prefetched_ = agenda_.num_opened();
    agenda_.ForEachOfNextBucket([&](const Agenda::Entry& entry) {
      if (const Port* port = port_of(entry)) PrefetchPort(*port);
    });
    for (size_t i = 0; const Agenda::Entry* entry = agenda_.Peek(i); ++i) {
      const Port* port = port_of(*entry);
      if (port == nullptr) continue;
      for (const Lane& lane : port->lanes) lane.Prefetch();
    }
  }
  const auto packet_at = [&](size_t ahead) -> const Packet* {
    const Agenda::Entry* entry = agenda_.Peek(ahead);
    const Port* port = entry == nullptr ? nullptr : port_of(*entry);
    if (port == nullptr) return nullptr;
    for (const Lane& lane : port->lanes) {
      if (!lane.has_wire()) continue;
      const Packet& packet = lane.first_on_wire();
      return packet.queue_pair == kNone ? nullptr : &packet;
    }
    return nullptr;
  };
  if (const Packet* packet = packet_at(3)) {
    __builtin_prefetch(PathOf(*packet) + packet->hop);
  }
  if (const Packet* packet = packet_at(1)) {
    const uint32_t next = NextOnPath(*packet);
    if (next != kEndOfPath) return PrefetchPort(ports_[next]);
    const char* qp =
        reinterpret_cast<const char*>(&queue_pairs_[packet->queue_pair]);
    for (size_t i = 0; i < sizeof(QueuePair); i += 64) {
      __builtin_prefetch(qp + i);
    }
  }
}

void PacketNetwork::PrefetchPort(const Port& port) {
  const char* line = reinterpret_cast<const char*>(&port);
  __builtin_prefetch(line);
  __builtin_prefetch(line + 64);
  __builtin_prefetch(line + 128);
}

// Sends the pause frames that had to wait until no port is being changed. They
// may cause further frames, each for a link that a switch has come to pause or
// resume.
void PacketNetwork::FinishEvent() {
  while (!pauses_.empty()) {
    const auto pauses = std::exchange(pauses_, {});
    for (const auto& [ingress, is_pause] : pauses) {
      TellToPause(ingress, is_pause);
    }
  }
}

// Handles the event of a port: packets are at the far end, or one may leave.
void PacketNetwork::OnLink(uint32_t link) {
  Port& port = ports_[link];
  if (port.event_ps != now_ps_) return;  // The event is stale.
  port.event_ps = kNever;
  port.is_event_of_wire = false;
  Advance(link);
  for (Lane& lane : port.lanes) {
    while (lane.has_wire() && lane.first_on_wire().time_ps <= now_ps_) {
      Packet packet = lane.first_on_wire();
      lane.PopFromWire();
      Arrive(link, packet);
    }
  }
  Arm(link);
}

void PacketNetwork::Arrive(uint32_t link, Packet& packet) {
  ++statistics_.num_packet_hops;
  if ((packet.flags & Packet::kLost) != 0) {
    ++statistics_.num_losses;
    ++statistics_.links[link].lost;
    return Discard(packet);
  }
  if (packet.kind >= PacketKind::kPause) {
    // The frame came against the direction of the link that it pauses.
    return OnPause(link ^ 1, packet.kind == PacketKind::kPause);
  }
  const uint32_t node = ports_[link].target;
  const uint32_t next = NextOnPath(packet);
  if (next != kEndOfPath && ports_[next].source == node) {
    return Forward(link, next, packet);
  }
  const QueuePair& qp = queue_pairs_[packet.queue_pair];
  if (packet.kind == PacketKind::kData) {
    if (qp.target == node) return OnData(packet);
  } else if (qp.source == node) {
    return OnAck(packet);
  }
  // The path of the queue pair has changed, or it never had one.
  const uint32_t own = NextLink(node, packet);
  if (own == kNone) {
    ++statistics_.num_losses;
    ++statistics_.links[link].lost;
    return Discard(packet);
  }
  Forward(link, own, packet);
}

// Does the work of Advance() where the port may be idle.
void PacketNetwork::AdvanceIdle(uint32_t link) {
  Port& port = ports_[link];
  while (port.busy_until_ps <= now_ps_ && !port.is_down) {
    Lane& control = port.lane(TrafficClass::kControl);
    if (control.has_queued() &&
        control.first_queued().time_ps <= port.busy_until_ps) {
      Start(link, port, control, port.busy_until_ps);
      continue;
    }
    Lane& data = port.lane(TrafficClass::kData);
    if (!port.is_paused && data.has_queued() &&
        data.first_queued().time_ps <= port.busy_until_ps) {
      Start(link, port, data, port.busy_until_ps);
      continue;
    }
    if (!port.is_paused && port.nic != kNone && !data.has_queued() &&
        StartFromNic(link, port)) {
      continue;
    }
    // The port is idle until a packet may leave.
    const int64_t next = std::min(NextStart(port), now_ps_);
    if (next <= port.busy_until_ps) break;
    port.busy_until_ps = next;
  }
  port.busy_until_ps = std::max(port.busy_until_ps, now_ps_);
}

// Returns when a waiting packet may leave, if nothing else happens.
int64_t PacketNetwork::NextStart(const Port& port) const {
  int64_t next = kNever;
  if (port.is_down) return next;
  for (size_t i = 0; i < kNumTrafficClasses; ++i) {
    const Lane& lane = port.lanes[i];
    if (!lane.has_queued()) continue;
    if (port.is_paused && i == static_cast<size_t>(TrafficClass::kData)) {
      continue;
    }
    next = std::min(next, lane.first_queued().time_ps);
  }
  if (port.nic != kNone && !port.is_paused) {
    const Nic& nic = nics_[port.nic];
    if (nic.turns.has_ready()) next = std::min(next, port.busy_until_ps);
    if (!nic.paced.empty()) next = std::min(next, nic.paced.front().first);
  }
  return next == kNever ? next : std::max(next, port.busy_until_ps);
}

// Lets the first packet of the lane begin to leave at `start_ps`.
void PacketNetwork::Start(uint32_t link, Port& port, Lane& lane,
                          int64_t start_ps) {
  Packet& packet = lane.first_queued();
  const uint32_t bytes = packet.bytes;
  const int64_t serialisation_ps = port.SerialisationPs(bytes);
  port.busy_until_ps = start_ps + serialisation_ps;
  port.busy_ps += serialisation_ps;
  port.sent_bytes += bytes;
  ++port.sent_packets;
  if (&lane == &port.lane(TrafficClass::kData)) port.queued_bytes -= bytes;
  if ((packet.flags & Packet::kBuffered) != 0) {
    packet.flags &= static_cast<uint8_t>(~Packet::kBuffered);
    ReleaseBuffer(port, packet);
  }
  if (packet.kind == PacketKind::kData) {
    port.sent_data_bytes += bytes;
    ++port.sent_data_packets;
    if (port.marks && port.queued_bytes > 0) Mark(link, port, packet);
    if (has_hops_ && port.switch_index != kNone) {
      AddHop(port, packet, start_ps);
    }
    if (has_utilization_ && port.switch_index != kNone) {
      AddUtilization(link, port, packet, start_ps);
    }
  }
  if (port.has_errors && packet.kind < PacketKind::kPause) {
    const uint64_t draw =
        HashOf(options_.seed, uint64_t{link}, port.sent_packets);
    if (UnitInterval(draw) < ErrorRateOf(link)) packet.flags |= Packet::kLost;
  }
  if (options_.record.captured_link == LinkId(link)) {
    RecordCapture(packet, start_ps);
  }
  packet.time_ps =
      start_ps + port.propagation_ps +
      (port.cuts_through ? UntilForwarded(port, packet, serialisation_ps)
                         : serialisation_ps);
  lane.PutOnWire();
}

// Returns how long a packet must have been leaving before the switch at the far
// end may pass it on: for its head, or for longer if the next link is faster
// and would run dry, or in full if the packet goes no further.
int64_t PacketNetwork::UntilForwarded(const Port& port, const Packet& packet,
                                      int64_t serialisation_ps) {
  if (packet.queue_pair == kNone || packet.bytes <= kCutThroughBytes) {
    return serialisation_ps;
  }
  const uint32_t next = NextOnPath(packet);
  if (next == kEndOfPath || ports_[next].source != port.target) {
    return serialisation_ps;
  }
  int64_t next_ps = ports_[next].is_down
                        ? serialisation_ps
                        : ports_[next].SerialisationPs(packet.bytes);
  if (options_.load_balancing != LoadBalancing::kEcmp) {
    const uint32_t target = queue_pairs_[packet.queue_pair].target;
    for (const LinkId link :
         next_hops_.Find(NodeId(port.target), NodeId(target))) {
      next_ps =
          std::min(next_ps, ports_[link.index()].SerialisationPs(packet.bytes));
    }
  }
  return std::max(port.Divide(kCutThroughBytes), serialisation_ps - next_ps);
}

// Does the work of Arm() where there may be no event, or a later one.
void PacketNetwork::ArmAnew(uint32_t link) {
  Port& port = ports_[link];
  int64_t next = kNever;
  for (const Lane& lane : port.lanes) {
    if (lane.has_wire()) next = std::min(next, lane.first_on_wire().time_ps);
  }
  const bool is_of_wire = next != kNever;
  if (!is_of_wire || port.is_watched) next = std::min(next, NextStart(port));
  if (next >= port.event_ps) return;
  port.event_ps = next;
  port.is_event_of_wire = is_of_wire;
  Push(next, EventKind::kLink, link);
}

// Puts `packet` into the port at its time_ps, which is now.
void PacketNetwork::Transmit(uint32_t link, TrafficClass traffic_class,
                             const Packet& packet) {
  Port& port = ports_[link];
  if (port.busy_until_ps < now_ps_) Advance(link);
  if (traffic_class == TrafficClass::kData) {
    port.queued_bytes += packet.bytes;
  }
  port.lane(traffic_class).Push(packet);
  if (port.busy_until_ps <= now_ps_) Advance(link);
  port.max_queued_bytes = std::max(port.max_queued_bytes, port.queued_bytes);
  Arm(link);
}

// Frees what a packet held when it leaves the network.
void PacketNetwork::Discard(const Packet& packet) {
  if (packet.telemetry != kNone) free_telemetry_.push_back(packet.telemetry);
  if (packet.queue_pair == kNone) return;
  --queue_pairs_[packet.queue_pair].in_network;
  MaybeClose(packet.queue_pair);
}

}  // namespace astra
