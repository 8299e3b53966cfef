// The network as flows that share links: a message moves at a rate that changes
// whenever another one begins or ends, and packets are not looked at.
//
// Messages of one source, target and channel are those of a queue pair: they
// leave one after the other, in the order of Send(), and arrive in it. They
// take one of the equal-cost paths, as ECMP would choose it for the queue pair
// (see NextHops); with the same seed, that of the network of packets. Queue
// pairs that have something to send share the links max-min fairly (see
// max_min.h). A message of S bytes, W on the wire, arrives
//
//   the time until those before it have left
//   + the time in which W bytes leave at the changing rates
//   + the propagation delay of the path and the latency of its switches
//   + the time of one packet on each link but the slowest of its path
//   + the latency of a message
//
// after Send(), where W = S + header x ceil(S / payload). So packets follow one
// another through the network; no link waits for a whole message. Alone in a
// store-and-forward network that is exact if all packets are full.
//
// A message leaves the links when its last byte has left its source. An empty
// one has no bytes on the wire and takes the latencies alone.
//
// Left out: queues and what they cost, the time until a congestion control
// finds the fair rate, losses.
//
// Rates are doubles. The instant at which a message has left is rounded up to a
// picosecond, where less than a thousandth beyond one counts as none.
//
// Source: max-min fair sharing as a model of congestion control is that of
// SimGrid (H. Casanova et al., "Versatile, scalable, and accurate simulation of
// distributed applications and platforms", JPDC 74(10), 2014).

#ifndef NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_
#define NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "network-frontends/flow/deadline_queue.h"
#include "network-frontends/flow/fair_rates.h"
#include "network-frontends/network_backend.h"
#include "topology/next_hops.h"

namespace astra {

struct FlowOptions {
  Bytes payload = Bytes(4096);  // Of a packet, at least 1.
  Bytes header = Bytes(82);     // Of a packet, on the wire.
  TimePs switch_latency;        // Of each switch that is passed.
  TimePs message_latency;       // Of each message.
  uint64_t seed = 1;            // Of the choice between equal-cost paths.
  // The share of each link that messages may use, above 0 and at most 1.
  double efficiency = 1;
  // For how long what ended messages have freed may stay unused, so that many
  // ends are solved for at once. New messages are always solved for at once. 0:
  // exact; the time of a round trip costs no more than congestion control does.
  TimePs end_batching;
  RecordOptions record;  // Flows; nothing else is recorded.
};

class FlowBackend final : public NetworkBackend {
 public:
  // `topology` must outlive the backend.
  FlowBackend(const Topology& topology, const FlowOptions& options);

  TimePs now() const override { return now_; }

  // Requires that a path leads from source to target.
  void Send(const Message& message) override;

  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override;

  // With headers; of all that was sent, though it may not have left yet.
  absl::Span<const double> link_bytes() const override { return link_bytes_; }

  // Links: bytes, packets and the time that they take. Packets are those of
  // all messages sent; bytes are those that have left.
  const NetworkStatistics& statistics() override;

 private:
  // A message until it has arrived. Free ones are reused.
  struct InFlight {
    MessageId id;
    uint32_t connection;
    uint32_t next;  // That leaves when this one has left, or kNone.
    Bytes bytes;
    TimePs start;
  };
  static_assert(sizeof(InFlight) == 32, "there may be 10^6 of them");
  // The messages of one source, target and channel.
  struct Connection {
    uint32_t flow_class;
    uint32_t channel;
    uint32_t last;   // Of those that have not left, or kNone.
    TimePs arrived;  // When the last that has left arrives.
  };
  static_assert(sizeof(Connection) == 24, "there may be 10^6 of them");
  // The message of a connection that is leaving: it has left when each flow of
  // its class has been served `end` bytes.
  struct Leaving {
    double end;
    uint32_t message;  // In messages_.

    friend bool operator>(const Leaving& a, const Leaving& b) {
      return std::pair(a.end, a.message) > std::pair(b.end, b.message);
    }
  };
  // The connections that take one path; its number is that of its rate. Each
  // that has a message is a flow.
  struct FlowClass {
    NodeId source;
    NodeId target;
    uint32_t first_link;  // In paths_.
    uint32_t num_links;
    uint32_t next;  // Class of the same ends, or kNone.
    double served = 0;
    double rate = 0;
    TimePs updated;  // The instant of `served`.
    Bandwidth slowest;
    TimePs latency;         // Of an empty message.
    TimePs packet_latency;  // Of a full packet on all links but the slowest.
    uint64_t record = 0;    // The place of its path in statistics_.paths, + 1.
    absl::InlinedVector<Leaving, 1> leaving;  // A heap, the first to end first.
  };
  static_assert(sizeof(FlowClass) <= 112, "there may be 10^6 of them");

  uint32_t ConnectionOf(const Message& message);
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
  void Record(const InFlight& message);

  const Topology& topology_;
  FlowOptions options_;
  TimePs now_;
  NextHops next_hops_;
  FairRates fair_rates_;

  std::vector<FlowClass> classes_;
  std::vector<LinkId> paths_;
  std::vector<Connection> connections_;
  // By ends and channel; the first class by ends.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> connection_of_;
  absl::flat_hash_map<uint64_t, uint32_t> first_class_of_;

  std::vector<InFlight> messages_;
  std::vector<uint32_t> unused_messages_;
  DeadlineQueue deadlines_;  // When the next message of a class has left.
  EventQueue arrivals_;      // Kind: the id of a message; index: its number.
  bool has_begun_ = false;   // A message, since Solve().
  TimePs solve_at_;          // Where only ends wait for it.
  std::vector<uint32_t> touched_;  // Classes whose flows have changed.
  std::vector<uint32_t> changed_;  // Classes whose rate has.
  std::vector<LinkId> path_;       // Working memory.

  std::vector<double> link_bytes_;
  NetworkStatistics statistics_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_FLOW_FLOW_BACKEND_H_
