#include "network-frontends/packet/zones/zoned_packet_network.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <thread>
#include <utility>

#include "astra-core/base/units.h"

namespace astra {

ZonedPacketNetwork::ZonedPacketNetwork(const Topology& topology,
                                       const PacketOptions& options,
                                       Zoning zoning)
    : zoning_(std::move(zoning)), reports_(zoning_.num_zones) {
  const uint32_t num_zones = zoning_.num_zones;
  for (uint32_t i = 0; i < num_zones; ++i) {
    zones_.push_back(
        std::make_unique<PacketZone>(topology, options, zoning_, ZoneId(i)));
  }
  mail_.fill(std::vector(num_zones, std::vector<Mailbox>(num_zones)));
}

absl::Status ZonedPacketNetwork::Run(absl::Span<ZoneDriver* const> drivers,
                                     uint64_t num_messages) {
  window_end_ = zoning_.lookahead;
  std::barrier meeting(
      static_cast<std::ptrdiff_t>(zones_.size()),
      [this, num_messages]() noexcept { EndWindow(num_messages); });
  const auto run_zone = [&](size_t zone) {
    while (state_ == State::kRunning) {
      RunWindow(zone, *drivers[zone]);
      meeting.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < zones_.size(); ++i) others.emplace_back(run_zone, i);
  run_zone(0);
  for (std::thread& other : others) other.join();
  return Result();
}

void ZonedPacketNetwork::RunWindow(size_t zone, ZoneDriver& driver) {
  const uint64_t window = statistics_.num_windows;
  PacketZone& network = *zones_[zone];
  const uint64_t hops_before = network.num_packet_hops();
  for (size_t from = 0; from < zones_.size(); ++from) {
    if (from != zone) network.TakeIn(MailFrom(from, window + 1)[zone]);
  }
  driver.AdvanceTo(window_end_ - TimePs(1));
  Report& report = reports_[zone];
  report.next = std::min(
      driver.next(), network.HandOver(absl::MakeSpan(MailFrom(zone, window))));
  report.num_done = driver.num_done();
  report.num_packet_hops = network.num_packet_hops() - hops_before;
  report.needs_other_zone = driver.needs_other_zone();
  report.has_losses = network.has_losses();
}

// Decides what comes after the window that all zones have ended.
void ZonedPacketNetwork::EndWindow(uint64_t num_messages) {
  Report all;
  uint64_t most_hops = 0;
  all.next = kNever;
  for (const Report& report : reports_) {
    all.next = std::min(all.next, report.next);
    all.num_done += report.num_done;
    all.needs_other_zone |= report.needs_other_zone;
    all.has_losses |= report.has_losses;
    statistics_.num_packet_hops += report.num_packet_hops;
    most_hops = std::max(most_hops, report.num_packet_hops);
  }
  ++statistics_.num_windows;
  statistics_.num_critical_hops += most_hops;
  if (all.needs_other_zone) {
    state_ = State::kNeedsOtherZone;
  } else if (all.has_losses) {
    state_ = State::kHasLosses;
  } else if (all.num_done == num_messages) {
    state_ = State::kDone;
  } else if (all.next == kNever) {
    state_ = State::kSilent;
  } else {
    window_end_ = std::max(all.next, window_end_) + zoning_.lookahead;
  }
}

absl::Status ZonedPacketNetwork::Result() const {
  switch (state_) {
    case State::kRunning:
    case State::kDone:
      break;
    case State::kNeedsOtherZone:
      return absl::FailedPreconditionError(
          "a message waits at its sender until another one is delivered");
    case State::kHasLosses:
      return absl::FailedPreconditionError("a switch has no room for a packet");
    case State::kSilent:
      return absl::FailedPreconditionError("the network falls silent");
  }
  return absl::OkStatus();
}

std::vector<double> ZonedPacketNetwork::link_bytes() {
  std::vector<double> sum;
  for (const std::unique_ptr<PacketZone>& zone : zones_) {
    const absl::Span<const double> bytes = zone->link_bytes();
    sum.resize(bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) sum[i] += bytes[i];
  }
  return sum;
}

}  // namespace astra
