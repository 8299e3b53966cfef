// Collectives that are counted again on the packet network; see
// replay_support.h.

#ifndef NETWORK_FRONTENDS_PACKET_PACKET_REPLAY_H_
#define NETWORK_FRONTENDS_PACKET_PACKET_REPLAY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/packet/connections.h"
#include "network-frontends/packet/departures.h"
#include "network-frontends/packet/islands.h"
#include "network-frontends/packet/network_parts.h"
#include "network-frontends/packet/network_state.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/records.h"
#include "network-frontends/packet/senders.h"
#include "network-frontends/packet/switch_buffers.h"
#include "network-frontends/replay_support.h"

namespace astra {

class PacketReplay final : public ReplaySupport {
 public:
  // Returns whether collectives that go the same way can exist at all: nothing
  // depends on the time, on earlier messages, or on draws for each packet, and
  // nothing is recorded as it happens.
  static bool IsPossible(const PacketSetup& setup);

  // Lets the network go on up to an instant, or to the first at which messages
  // arrive, and appends these.
  using Advance = std::function<void(TimePs, std::vector<MessageId>*)>;

  // All must outlive the object.
  PacketReplay(const NetworkParts& parts, const Advance& advance)
      : parts_(parts), advance_(advance) {}

  const Topology& topology() const override { return parts_.setup.topology; }
  void SkipPackets(double tolerance) override {
    parts_.islands.Begin(tolerance);
  }
  bool AppendPath(const Connection& connection, std::vector<LinkId>* there,
                  std::vector<LinkId>* back) override;
  void AppendShape(LinkId link, std::vector<int64_t>* shape) const override;
  Bytes MostUnderWay(absl::Span<const LinkId> there,
                     absl::Span<const LinkId> back) const override;
  bool HasRoomFor(NodeId node, int64_t sum_bytes,
                  int64_t largest_bytes) const override;
  bool IsIdle(LinkId link) const override;
  bool AreAtRest(absl::Span<const Connection> connections) const override;
  bool HaveUnderWay(absl::Span<const Connection> connections) const override;
  Turns TurnsOf(absl::Span<const Connection> connections) const override;
  void SetTurns(absl::Span<const Connection> connections,
                const Turns& turns) override;
  void CloseConnections() override { parts_.connections.CloseAll(); }
  void StartMeasuring(absl::Span<const LinkId> links,
                      absl::Span<const NodeId> switches) override;
  Measurement Measure() override;
  Measurement StopMeasuring(absl::Span<const Connection> connections) override;
  std::vector<LinkTraffic> TrafficOf(absl::Span<const LinkId> links) override;
  std::optional<uint64_t> StateOf(
      absl::Span<const Connection> connections, absl::Span<const LinkId> links,
      const std::function<uint64_t(MessageId)>& label) override;
  void Replay(const Measurement& measured, absl::Span<const LinkId> links,
              absl::Span<const Connection> connections) override;
  void CountSimulated(uint64_t packet_hops, uint64_t events) override;
  void GoBackTo(TimePs time, absl::Span<const LinkId> links) override;
  void Return() override;

 private:
  // The state of the counters as StartMeasuring() was called.
  struct Before {
    TimePs start;
    std::vector<LinkId> links;
    std::vector<NodeId> switches;
    std::vector<LinkTraffic> traffic;
    NetworkStatistics totals;  // Without lists.
    uint64_t num_irregular = 0;
  };

  bool IsAtRest(QueuePairId id) const;
  std::vector<int64_t> TakePeaks();
  void AddQueuePair(const QueuePair& qp,
                    const std::function<uint64_t(MessageId)>& label,
                    StateHash* state) const;
  QueuePairId Open(const Connection& connection);

  const NetworkParts parts_;
  const Advance advance_;
  Before before_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_PACKET_REPLAY_H_
