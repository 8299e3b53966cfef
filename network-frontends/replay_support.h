// What a network offers so that a collective that it has simulated once can be
// counted again without its messages.
//
// A collective that nothing else meets on its links goes the same way each
// time, only later. So it is enough to simulate it once, on a second network of
// the same make that carries nothing else, and to note when it did what. Three
// things make that exact, and this interface has the functions for each:
//
//   the same way      The links of connections, and what else decides how their
//                     packets go, can be compared (AppendPath, AppendShape,
//                     TurnsOf).
//   nothing else      Links tell whether they are idle, and the second network
//                     whether something happened that depends on more than the
//                     collective (StopMeasuring).
//   as if simulated   What the collective has left behind is added to the first
//                     network (Replay). If something comes in between, the
//                     network goes back in time, and the collective is
//                     simulated in earnest (GoBackTo).

#ifndef NETWORK_FRONTENDS_REPLAY_SUPPORT_H_
#define NETWORK_FRONTENDS_REPLAY_SUPPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// The messages of one source, target and channel share a connection: a path, a
// rate and a place in the turns of a NIC.
struct Connection {
  NodeId source;
  NodeId target;
  uint32_t channel = 0;

  friend auto operator<=>(const Connection&, const Connection&) = default;
};

// The turns of connections at their NICs, as numbers: for each NIC, by the link
// on which it sends, how many of the connections are open; their positions in
// the list that was asked for, in the order of the NIC's table; and how many of
// them stand before the place where the next turn begins.
using Turns = std::vector<uint32_t>;

// What a link has carried.
struct LinkTraffic {
  TimePs busy;
  TimePs data_busy;
  uint64_t bytes = 0;
  uint64_t packets = 0;
  uint64_t data_bytes = 0;
  uint64_t data_packets = 0;
  Bytes max_queued;

  // Adds `times` times what came between two looks, but for the longest queue.
  void AddBetween(const LinkTraffic& first, const LinkTraffic& last,
                  int64_t times) {
    const auto factor = static_cast<uint64_t>(times);
    busy += times * (last.busy - first.busy);
    data_busy += times * (last.data_busy - first.data_busy);
    bytes += factor * (last.bytes - first.bytes);
    packets += factor * (last.packets - first.packets);
    data_bytes += factor * (last.data_bytes - first.data_bytes);
    data_packets += factor * (last.data_packets - first.data_packets);
  }
};

// What a collective left behind on the network that it had for itself.
struct Measurement {
  std::vector<LinkTraffic> links;   // In the order of the measured links.
  std::vector<int64_t> peak_bytes;  // Of the buffers of the measured switches.
  uint64_t num_flows = 0;
  uint64_t num_data_packets = 0;
  uint64_t num_packet_hops = 0;
  uint64_t num_counted_hops = 0;  // Of these, not simulated.
  TimePs sending;
  TimePs sending_slowly;
  TimePs quiet;  // When the last packet had gone, since the start.
  Turns turns;   // At the end.
  // Nothing happened that depends on more than the collective itself: no draw,
  // no shortage of buffers, no loss, no timeout; and congestion control is as
  // it was.
  bool is_regular = false;
};

// The counters of messages and packets of a network, without its lists.
inline NetworkStatistics CountersOf(const NetworkStatistics& network) {
  NetworkStatistics counters;
  counters.num_flows = network.num_flows;
  counters.num_data_packets = network.num_data_packets;
  counters.num_packet_hops = network.num_packet_hops;
  counters.num_replayed_hops = network.num_replayed_hops;
  counters.sending = network.sending;
  counters.sending_slowly = network.sending_slowly;
  return counters;
}

// Sets the counters of `made` to what came between two states of a network.
inline void MeasureCounters(const NetworkStatistics& before,
                            const NetworkStatistics& now, Measurement* made) {
  made->num_flows = now.num_flows - before.num_flows;
  made->num_data_packets = now.num_data_packets - before.num_data_packets;
  made->num_packet_hops = now.num_packet_hops - before.num_packet_hops;
  made->num_counted_hops = now.num_replayed_hops - before.num_replayed_hops;
  made->sending = now.sending - before.sending;
  made->sending_slowly = now.sending_slowly - before.sending_slowly;
}

// Counts in a network what was measured and is replayed.
inline void AddCounters(const Measurement& measured,
                        NetworkStatistics* network) {
  network->num_flows += measured.num_flows;
  network->num_data_packets += measured.num_data_packets;
  network->num_packet_hops += measured.num_packet_hops;
  network->num_replayed_hops += measured.num_packet_hops;
  network->sending += measured.sending;
  network->sending_slowly += measured.sending_slowly;
}

class ReplaySupport {
 public:
  virtual ~ReplaySupport() = default;

  virtual const Topology& topology() const = 0;

  // From now on, packets are counted instead of simulated where the times at
  // which messages arrive differ by at most this share of how long they take. 0
  // changes nothing that can be measured.
  virtual void SkipPackets(double tolerance) = 0;

  // Appends the links of a connection to `there` and `back`. Returns false if
  // there is no path.
  virtual bool AppendPath(const Connection& connection,
                          std::vector<LinkId>* there,
                          std::vector<LinkId>* back) = 0;

  // Appends numbers that are equal for links whose packets take equal times and
  // meet equal buffers.
  virtual void AppendShape(LinkId link, std::vector<int64_t>* shape) const = 0;

  // Returns the most that a connection over these links ever has under way.
  virtual Bytes MostUnderWay(absl::Span<const LinkId> there,
                             absl::Span<const LinkId> back) const = 0;

  // Returns whether collectives whose buffers in `node` hold at most
  // `sum_bytes` together, and each at most `largest_bytes`, do not feel one
  // another there.
  virtual bool HasRoomFor(NodeId node, int64_t sum_bytes,
                          int64_t largest_bytes) const = 0;

  // Returns whether nothing waits at or crosses the link, and nothing keeps it
  // from carrying.
  virtual bool IsIdle(LinkId link) const = 0;

  // Returns whether those of the connections that are open have nothing to
  // send, and congestion control treats them as it does new ones.
  virtual bool AreAtRest(absl::Span<const Connection> connections) const = 0;

  // Returns whether packets of the connections wait or are on links, or
  // messages of theirs have not arrived.
  virtual bool HaveUnderWay(absl::Span<const Connection> connections) const = 0;

  virtual Turns TurnsOf(absl::Span<const Connection> connections) const = 0;

  // Opens connections, and moves turns, until TurnsOf() returns `turns`. Turns
  // of other connections keep their order.
  virtual void SetTurns(absl::Span<const Connection> connections,
                        const Turns& turns) = 0;

  // Closes all connections. Requires that they are at rest.
  virtual void CloseConnections() = 0;

  // Begins to measure what these links and switches carry. The longest queues
  // from before are forgotten.
  virtual void StartMeasuring(absl::Span<const LinkId> links,
                              absl::Span<const NodeId> switches) = 0;

  // Returns what was carried since StartMeasuring(); the second after running
  // on until no packet is left.
  virtual Measurement Measure() = 0;
  virtual Measurement StopMeasuring(
      absl::Span<const Connection> connections) = 0;

  virtual std::vector<LinkTraffic> TrafficOf(
      absl::Span<const LinkId> links) = 0;

  // Returns a number that is equal if all that is on the links and in the
  // connections is equal, with times counted from now and packets from what is
  // acknowledged; none if the network cannot tell, or if something else is on
  // the links. `label` tells what a message is that has not arrived.
  virtual std::optional<uint64_t> StateOf(
      absl::Span<const Connection> connections, absl::Span<const LinkId> links,
      const std::function<uint64_t(MessageId)>& label) = 0;

  // Adds what has ended and was measured on links that stand for `links`.
  virtual void Replay(const Measurement& measured,
                      absl::Span<const LinkId> links,
                      absl::Span<const Connection> connections) = 0;

  // Says that so many of the packet-hops that were added have been simulated,
  // on another network that executed so many events.
  virtual void CountSimulated(uint64_t packet_hops, uint64_t events) = 0;

  // Sets the clock back to `time`. What is pending waits until Return(), at
  // which now() must be as late as before. Requires that what is sent in
  // between uses only `links`, which have been idle since.
  virtual void GoBackTo(TimePs time, absl::Span<const LinkId> links) = 0;
  virtual void Return() = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_REPLAY_SUPPORT_H_
