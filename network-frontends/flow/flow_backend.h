// Network backend of flows that share links: the rate of a message changes
// whenever another one begins or ends. Packets are not simulated.
//
// Messages of one source, target and channel form a connection, like a queue
// pair: they leave and arrive one after the other, in the order of Send(). A
// connection takes one of the equal-cost paths by the hash that ECMP uses (see
// NextHops); with the same seed it is the path of the packet network.
// Connections that have something to send share the links max-min fairly (see
// max_min.h). A message of S bytes, W on the wire, arrives
//
//   the time until the messages before it have left
//   + the time in which W bytes leave at the changing rates
//   + the propagation delay of the path and the latency of its switches
//   + the time of one packet on each link but the slowest of its path
//   + the latency of a message
//
// after Send(), where W = S + header x ceil(S / payload). Packets thus follow
// one another through the network, and no link waits for a whole message. For a
// message alone in a store-and-forward network this is exact if all packets are
// full.
//
// A message leaves the links when its last byte has left its source. An empty
// message has no bytes on the wire and takes only the latencies.
//
// A link may change its rate, and it may go down (see link_event.h). Messages
// whose path is down wait until there is another, and go on there with the
// bytes that are left; a switch or NIC that takes other ways sends what it has
// along them. Once switches and NICs have withdrawn a link, nobody uses it
// until they know that it is back.
//
// Left out: queues and their delay, the time in which a congestion control
// finds the fair rate, and losses.
//
// Rates are doubles. The instant at which a message has left is rounded up to a
// picosecond; less than a thousandth of a picosecond counts as zero.
//
// Source: SimGrid models congestion control as max-min fair sharing (H.
// Casanova et al., "Versatile, scalable, and accurate simulation of distributed
// applications and platforms", JPDC 74(10), 2014).

#ifndef NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_
#define NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "network-frontends/flow/deadline_queue.h"
#include "network-frontends/flow/fair_rates.h"
#include "network-frontends/link_event.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/replay_support.h"
#include "topology/next_hops.h"

namespace astra {

struct FlowOptions {
  Bytes payload = Bytes(4096);  // Payload of a full packet, at least 1.
  Bytes header = Bytes(82);     // Header of each packet on the wire.
  TimePs switch_latency;        // Delay of each switch on the path.
  TimePs nv_switch_latency;     // The same of an NVSwitch.
  TimePs message_latency;       // Delay of each message.
  uint64_t seed = 1;            // Seed of the choice of paths.
  // Share of each link's rate that messages may use, above 0 and at most 1.
  double efficiency = 1;
  // Time for which capacity that ended messages have freed may stay unused, so
  // that rates are solved once for many ends. Rates are always solved at once
  // for new messages. 0 is exact. One round-trip time costs no more accuracy
  // than the reaction time of congestion control.
  TimePs end_batching;
  std::vector<LinkEvent> link_events;  // Changes of links, in any order.
  // Time from a change until switches and NICs send other ways.
  TimePs reroute_delay;
  RecordOptions record;  // Only `flows` are recorded.
};

class FlowBackend final : public NetworkBackend, private ReplaySupport {
 public:
  // `topology` must outlive the backend.
  FlowBackend(const Topology& topology, const FlowOptions& options);

  TimePs now() const override { return now_; }

  // Requires a path from source to target.
  void Send(const Message& message) override;

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;
  void LogArrivals(const ArrivalLog& log) override { log_ = log; }

  // Counts all messages sent, even bytes that have not left yet.
  absl::Span<const double> link_bytes() const override {
    return payload_bytes_;
  }

  // Fills in bytes, packets and busy time of links. Packets are those of all
  // messages sent; bytes are those that have left.
  WorkDone work() const override {
    return {statistics_.num_events, statistics_.num_flows};
  }
  const NetworkStatistics& statistics() override;
  std::string WhyStuck() const override;

  // None if links change, rates wait for one another, or if messages are
  // recorded.
  ReplaySupport* replay() override;

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // A message until it has arrived. Places of arrived messages are reused.
  struct InFlight {
    MessageId id;
    uint32_t connection;
    uint32_t next;  // Next message of the connection, or kNone.
    Bytes bytes;
    TimePs start;
  };
  static_assert(sizeof(InFlight) == 32, "there may be 10^6 of them");
  // Connection, or queue pair: the messages of one source, target and channel.
  struct QueuePair {
    uint32_t flow_class;
    uint32_t channel;
    uint32_t last;   // Last message that has not left, or kNone.
    TimePs arrived;  // Arrival of the last message that has left.
  };
  static_assert(sizeof(QueuePair) == 24, "there may be 10^6 of them");
  // The message of a connection that is leaving. It has left when each flow of
  // its class has been served `end` bytes.
  struct Leaving {
    double end;
    uint32_t message;  // Index into messages_.

    friend bool operator>(const Leaving& a, const Leaving& b) {
      return std::pair(a.end, a.message) > std::pair(b.end, b.message);
    }
  };
  // The connections that take one path. Its index is also the index of its rate
  // in fair_rates_. Each connection that has a message is one flow.
  struct FlowClass {
    NodeId source;
    NodeId target;
    uint32_t first_link;  // Index into paths_.
    uint32_t num_links;
    uint32_t next;      // Next class of the same ends, or kNone.
    double served = 0;  // Bytes served to each flow by `updated`.
    double rate = 0;    // Bit/s of each flow.
    TimePs updated;     // The instant to which `served` refers.
    Bandwidth slowest;
    TimePs latency;  // Latency of an empty message.
    // Time of a full packet on all links but the slowest.
    TimePs packet_latency;
    bool is_down = false;  // A link of the path is down, or withdrawn.
    uint64_t record = 0;   // 1 + index into statistics_.paths; 0: none.
    absl::InlinedVector<Leaving, 1> leaving;  // Heap, earliest end first.
  };
  static_assert(sizeof(FlowClass) <= 120, "there may be 10^6 of them");

  // The state of the counters as StartMeasuring() was called.
  struct Before {
    TimePs start;
    std::vector<LinkId> links;
    std::vector<LinkTraffic> traffic;
    size_t num_switches = 0;
    NetworkStatistics counters;
  };

  // ReplaySupport, in flow_replay.cc. Messages have no turns and no buffers,
  // and two instants are never taken to be alike.
  const Topology& topology() const override { return topology_; }
  void SkipPackets(double /*tolerance*/) override {}
  bool AppendPath(const Connection& connection, std::vector<LinkId>* there,
                  std::vector<LinkId>* back) override;
  void AppendShape(LinkId link, std::vector<int64_t>* shape) const override;
  Bytes MostUnderWay(absl::Span<const LinkId> /*there*/,
                     absl::Span<const LinkId> /*back*/) const override {
    return {};
  }
  bool HasRoomFor(NodeId /*node*/, int64_t /*sum_bytes*/,
                  int64_t /*largest_bytes*/) const override {
    return true;
  }
  bool IsIdle(LinkId link) const override;
  bool AreAtRest(absl::Span<const Connection> connections) const override;
  bool HaveUnderWay(absl::Span<const Connection> connections) const override {
    return !AreAtRest(connections);
  }
  Turns TurnsOf(absl::Span<const Connection> /*connections*/) const override {
    return {};
  }
  void SetTurns(absl::Span<const Connection> /*connections*/,
                const Turns& /*turns*/) override {}
  void CloseConnections() override {}
  void StartMeasuring(absl::Span<const LinkId> links,
                      absl::Span<const NodeId> switches) override;
  Measurement Measure() override;
  Measurement StopMeasuring(absl::Span<const Connection> connections) override;
  std::vector<LinkTraffic> TrafficOf(absl::Span<const LinkId> links) override;
  std::optional<uint64_t> StateOf(
      absl::Span<const Connection> /*connections*/,
      absl::Span<const LinkId> /*links*/,
      const std::function<uint64_t(MessageId)>& /*label*/) override {
    return std::nullopt;
  }
  void Replay(const Measurement& measured, absl::Span<const LinkId> links,
              absl::Span<const Connection> connections) override;
  void CountSimulated(uint64_t packet_hops, uint64_t events) override;
  void GoBackTo(TimePs time, absl::Span<const LinkId> links) override;
  void Return() override;
  LinkTraffic TrafficOf(LinkId link) const;

  // A message whose path is down, and its wire bytes that have not left.
  struct Stalled {
    uint32_t message;     // Index into messages_.
    uint32_t flow_class;  // Whose links count the bytes.
    double left;
  };
  // Kinds of entries of link_events_, in this order at one instant.
  enum LinkEventKind : uint32_t { kLinkChange, kReroute };

  // In link_faults.cc.
  void HandleLinkEvents();
  void ChangeLink(const LinkEvent& event);
  void SettleBusyTimes();
  double BusyPs(LinkId link, double bytes) const;
  void SetUp(LinkId link, double rate_factor);
  void UpdateClass(FlowClass& c) const;
  void Stall(uint32_t flow_class);
  void Reroute(const LinkEvent& event);
  void SetRoutes(LinkId link, bool is_up);
  void RerouteConnections();
  void LeaveClass(uint32_t flow_class, absl::Span<const Leaving> leaving);
  void GoOnWithStalled();
  void GoOn(const Stalled& stalled);
  void MoveBytes(const Stalled& stalled, uint32_t flow_class);
  double PayloadBehind(uint32_t message) const;
  bool IsDown(LinkId link) const {
    return !rate_factors_.empty() && rate_factors_[link.index()] == 0;
  }
  bool IsWithdrawn(LinkId link) const {
    return !is_withdrawn_.empty() && is_withdrawn_[link.index()];
  }
  // The present rate; that of the topology for a link that is down.
  Bandwidth RateOf(LinkId link) const;

  static uint64_t KeyOf(NodeId source, NodeId target) {
    return uint64_t{source.index()} << 32 | target.index();
  }
  uint64_t HashOfPath(NodeId source, NodeId target, uint32_t channel) const;
  uint32_t ConnectionOf(const Message& message);
  uint32_t ClassOfConnection(NodeId source, NodeId target, uint32_t channel);
  uint32_t ClassOfPath(NodeId source, NodeId target,
                       absl::Span<const LinkId> path);
  void AddClass(NodeId source, NodeId target, absl::Span<const LinkId> path);
  absl::Span<const LinkId> PathOf(const FlowClass& c) const {
    return absl::MakeConstSpan(paths_).subspan(c.first_link, c.num_links);
  }
  int64_t NumPackets(Bytes bytes) const;
  Bytes WireBytes(Bytes bytes) const;
  TimePs PacketLatency(const FlowClass& c, Bytes packet) const;
  TimePs Latency(const FlowClass& c, Bytes bytes) const;

  double ServedBy(const FlowClass& c) const;
  void Serve(FlowClass& c) const;
  static TimePs TimeToServe(const FlowClass& c, double bytes);
  double WireBytesBehind(uint32_t message) const;
  bool MustSolve() const;
  void Solve();
  std::optional<TimePs> NextInstant() const;
  void SetDeadline(uint32_t flow_class);
  uint32_t TakePlace();
  void CountBytes(const FlowClass& c, Bytes bytes);
  void BeginLeaving(uint32_t message, double after);
  uint32_t EndLeaving(uint32_t message);
  void EndFlows(uint32_t flow_class);
  void Arrive(uint32_t message);
  FlowRecord RecordOf(const InFlight& message) const;
  void Record(const InFlight& message);
  void Keep(FlowRecord record, FlowClass& c);

  const Topology& topology_;
  FlowOptions options_;
  TimePs now_;
  NextHops next_hops_;
  FairRates fair_rates_;

  std::vector<FlowClass> classes_;
  std::vector<LinkId> paths_;
  std::vector<QueuePair> connections_;
  // connection_of_ has the key (source and target, channel); first_class_of_
  // has the key (source and target).
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> connection_of_;
  absl::flat_hash_map<uint64_t, uint32_t> first_class_of_;

  std::vector<InFlight> messages_;
  std::vector<uint32_t> unused_messages_;
  DeadlineQueue deadlines_;        // Next departure by class.
  EventQueue arrivals_;            // Kind: message id; index: into messages_.
  bool has_begun_ = false;         // Messages have begun since Solve().
  TimePs solve_at_;                // When to solve if messages only ended.
  std::vector<uint32_t> touched_;  // Classes whose flows have changed.
  std::vector<uint32_t> changed_;  // Classes whose rate has changed.
  std::vector<LinkId> path_;       // Working memory.

  EventQueue link_events_;            // Index: into options_.link_events.
  std::vector<double> rate_factors_;  // By link; empty: nothing ever changes.
  std::vector<bool> is_withdrawn_;    // By link: next_hops_ avoids it.
  // By link: what it had sent, and for how long, when its rate changed last.
  struct Settled {
    double bytes = 0;
    double busy_ps = 0;
  };
  std::vector<Settled> settled_;
  std::vector<Stalled> stalled_;

  // Between GoBackTo() and Return().
  DeadlineQueue present_deadlines_;
  EventQueue present_arrivals_;
  Before before_;

  std::vector<double> wire_bytes_;     // Of each link, with headers,
  std::vector<double> payload_bytes_;  // and without.
  NetworkStatistics statistics_;
  ArrivalLog log_;  // Empty if nobody listens.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_
