// A fabric in virtual time: when each packet leaves each link of its path, and
// when it reaches its host.
//
// Usage:
//   fabric.Send(now, packet);              // The host's NIC takes a packet.
//   fabric.AdvanceTo(now, &outcomes);      // Packets that arrived or were
//   lost.
//
// Model: switches are output-queued, store-and-forward, and forward in no time.
// A link sends packets in the order in which they come, each for bytes / rate;
// a packet reaches the next node when its last bit does, after the latency of
// the link. A switch drops a packet for which the queue before the link has no
// room. The queue of a host's NIC has no limit, since the host sees it (see
// UplinkBacklog) and waits.
//
// Every packet between two hosts takes one path, that of path_rule.h. The hash
// that chooses among equal-cost paths is that of the simulated networks for
// channel 0 of the two GPUs and the same seed.
//
// Times are virtual: an instant that is late in real time is not late here, so
// that a delay of the emulating process does not add up over the links.

#ifndef ASTRA_CORE_APPS_TESTBED_EMULATED_FABRIC_H_
#define ASTRA_CORE_APPS_TESTBED_EMULATED_FABRIC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "topology/topology.h"

namespace astra {

using TrainId = Id<struct TrainTag>;  // Packets that a host sent in one piece.

// One packet as a link carries it.
struct WirePacket {
  RankId source;
  RankId target;
  TrainId train;       // Train to which the packet belongs.
  uint32_t index = 0;  // Position of the packet in its train.
  Bytes bytes;         // Size on the wire: headers, preamble and gap included.
};

// The end of a packet.
struct PacketOutcome {
  TimePs time;  // Arrival of the last bit, or the instant of the drop.
  WirePacket packet;
  bool is_dropped = false;
};

// Counts what one link, a direction of a cable, has carried.
struct LinkCounts {
  int64_t packets = 0;
  Bytes bytes;
  int64_t dropped_packets = 0;
  Bytes longest_queue;  // Largest backlog that a packet found, itself included.
};

class EmulatedFabric {
 public:
  struct Options {
    Bytes queue;        // Room of the queue before each link of a switch.
    uint64_t seed = 1;  // Seed of paths, as in a network file.
  };

  // Returns the fabric of `topology`, which must outlive it.
  //
  // Errors: InvalidArgument for two GPUs without a path between them.
  static absl::StatusOr<EmulatedFabric> Create(const Topology& topology,
                                               const Options& options);

  // Puts `packet` into the queue of its source's NIC at `now`, which is at
  // least the instant of the last AdvanceTo. Requires source != target.
  void Send(TimePs now, const WirePacket& packet);

  // Returns how long a packet that `source` sent at `now` would wait in its
  // NIC, and in the fullest of its NICs if it has several.
  TimePs UplinkBacklog(TimePs now, RankId source) const;

  // Simulates up to `now`, and appends what became of packets until then, in
  // the order of time.
  void AdvanceTo(TimePs now, std::vector<PacketOutcome>* outcomes);

  // Returns true while packets are under way.
  bool is_busy() const { return !arrivals_.empty(); }

  const LinkCounts& counts(LinkId link) const { return counts_[link.index()]; }

  // Returns the links from `source` to `target`.
  absl::Span<const LinkId> Path(RankId source, RankId target) const;

 private:
  struct InFlight {
    WirePacket packet;
    uint32_t path;  // Index in paths_.
    uint32_t hop;   // Position in the path of the link that carries the packet.
  };

  EmulatedFabric(const Topology& topology, const Options& options)
      : topology_(topology), options_(options) {}

  uint32_t PathIndex(RankId source, RankId target) const {
    return source.index() * topology_.num_gpus() + target.index();
  }
  void Transmit(TimePs now, uint32_t slot);
  bool HasRoom(TimePs now, LinkId link, Bytes bytes);
  void Release(uint32_t slot) { free_slots_.push_back(slot); }

  const Topology& topology_;
  Options options_;
  std::vector<std::vector<LinkId>> paths_;  // By source and target.
  std::vector<TimePs> free_at_;             // By link: end of its queue.
  std::vector<LinkCounts> counts_;          // By link.
  std::vector<InFlight> in_flight_;         // By slot.
  std::vector<uint32_t> free_slots_;  // Slots of in_flight_ without packet.
  EventQueue arrivals_;  // Arrivals at the end of a link; index: the slot.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_EMULATED_FABRIC_H_
