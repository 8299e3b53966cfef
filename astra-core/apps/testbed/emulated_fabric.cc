#include "astra-core/apps/testbed/emulated_fabric.h"

#include <algorithm>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "fmt/core.h"
#include "topology/next_hops.h"

namespace astra {

absl::StatusOr<EmulatedFabric> EmulatedFabric::Create(const Topology& topology,
                                                      const Options& options) {
  EmulatedFabric fabric(topology, options);
  NextHops next_hops(topology);
  const uint32_t hosts = topology.num_gpus();
  fabric.paths_.resize(size_t{hosts} * hosts);
  for (uint32_t source = 0; source < hosts; ++source) {
    for (uint32_t target = 0; target < hosts; ++target) {
      if (source == target) continue;
      const uint64_t ends = uint64_t{source} << 32 | target;
      const uint64_t key = HashOf(options.seed, ends, uint64_t{0});
      std::vector<LinkId>& path =
          fabric.paths_[fabric.PathIndex(RankId(source), RankId(target))];
      if (!next_hops.AppendEcmpPath(NodeId(source), NodeId(target), key,
                                    &path)) {
        return absl::InvalidArgumentError(
            fmt::format("no path from GPU {} to GPU {}: GPUs do not forward",
                        source, target));
      }
    }
  }
  fabric.free_at_.resize(topology.links().size());
  fabric.counts_.resize(topology.links().size());
  return fabric;
}

absl::Span<const LinkId> EmulatedFabric::Path(RankId source,
                                              RankId target) const {
  return paths_[PathIndex(source, target)];
}

void EmulatedFabric::Send(TimePs now, const WirePacket& packet) {
  ASTRA_CHECK(packet.source != packet.target, "a packet of {} to itself",
              packet.source);
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(in_flight_.size());
    in_flight_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  in_flight_[slot] = {packet, PathIndex(packet.source, packet.target), 0};
  Transmit(now, slot);
}

TimePs EmulatedFabric::UplinkBacklog(TimePs now, RankId source) const {
  TimePs backlog;
  for (const LinkId link : topology_.links_from(Topology::NodeOf(source))) {
    backlog = std::max(backlog, free_at_[link.index()] - now);
  }
  return backlog;
}

// Appends the packet of `slot` to the queue of its link.
void EmulatedFabric::Transmit(TimePs now, uint32_t slot) {
  const InFlight& flight = in_flight_[slot];
  const LinkId link = paths_[flight.path][flight.hop];
  const LinkType& type = topology_.type(link);
  TimePs& free_at = free_at_[link.index()];
  free_at = std::max(free_at, now) +
            TransferTime(flight.packet.bytes, type.bandwidth);
  LinkCounts& counts = counts_[link.index()];
  ++counts.packets;
  counts.bytes += flight.packet.bytes;
  arrivals_.Push({free_at + type.latency, 0, slot});
}

// Returns whether the queue before `link`, in whole bytes, takes a packet.
bool EmulatedFabric::HasRoom(TimePs now, LinkId link, Bytes bytes) {
  const TimePs wait = std::max(TimePs(), free_at_[link.index()] - now);
  const double bytes_per_ps =
      static_cast<double>(topology_.type(link).bandwidth.count()) / 8e12;
  const Bytes queue = Bytes(static_cast<int64_t>(
                          static_cast<double>(wait.count()) * bytes_per_ps)) +
                      bytes;
  LinkCounts& counts = counts_[link.index()];
  if (queue > options_.queue) {
    ++counts.dropped_packets;
    return false;
  }
  counts.longest_queue = std::max(counts.longest_queue, queue);
  return true;
}

void EmulatedFabric::AdvanceTo(TimePs now,
                               std::vector<PacketOutcome>* outcomes) {
  while (!arrivals_.empty() && arrivals_.next().time <= now) {
    const Event arrival = arrivals_.Pop();
    InFlight& flight = in_flight_[arrival.index];
    const std::vector<LinkId>& path = paths_[flight.path];
    ++flight.hop;
    const bool is_there = flight.hop == path.size();
    if (!is_there &&
        HasRoom(arrival.time, path[flight.hop], flight.packet.bytes)) {
      Transmit(arrival.time, arrival.index);
      continue;
    }
    outcomes->push_back({arrival.time, flight.packet, !is_there});
    Release(arrival.index);
  }
}

}  // namespace astra
