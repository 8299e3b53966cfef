#include "network-frontends/packet/telemetry.h"

#include <algorithm>

namespace astra {

TelemetrySlots::TelemetrySlots(const PacketSetup& setup, TimePs network_rtt)
    : kind_(setup.control->telemetry()), network_rtt_(network_rtt) {
  if (kind_ == Telemetry::kUtilization) {
    utilization_.resize(setup.topology.links().size());
  }
}

TelemetryId TelemetrySlots::Take() {
  const TelemetryId id = slots_.Take();
  TelemetrySlot& slot = slots_[id];
  slot.num_hops = 0;
  slot.utilization = 0;
  slot.arrived = kNoId<PacketNumber>;
  return id;
}

void TelemetrySlots::AddHop(const Port& port, const Packet& packet,
                            TimePs start) {
  if (packet.telemetry == kNoId<TelemetryId>) return;
  TelemetrySlot& slot = slots_[packet.telemetry];
  if (slot.num_hops == slot.hops.size()) return;
  slot.hops[slot.num_hops++] = {
      .time = start,
      .sent_bytes = static_cast<int64_t>(port.Traffic().bytes),
      .queued_bytes = port.queued.count(),
      .rate = port.rate};
}

void TelemetrySlots::AddUtilization(LinkId link, const Port& port,
                                    const Packet& packet, TimePs start) {
  Utilization& state = utilization_[link.index()];
  const auto rtt =
      static_cast<double>(std::max<int64_t>(1, network_rtt_.count()));
  // B T
  const double room = static_cast<double>(port.rate.count()) * rtt / 8e12;
  const double share =
      std::min(1.0, static_cast<double>((start - state.updated).count()) / rtt);
  // Bytes that have left since then, without this packet.
  const uint64_t sent_before = port.Traffic().bytes - packet.bytes;
  const uint64_t sent = sent_before - state.sent_bytes;
  state.average = (1 - share) * state.average +
                  share * static_cast<double>(port.queued.count()) / room +
                  std::min(static_cast<double>(sent) / room, 1.0);
  state.updated = start;
  state.sent_bytes = sent_before;
  if (packet.telemetry == kNoId<TelemetryId>) return;
  TelemetrySlot& slot = slots_[packet.telemetry];
  slot.utilization = std::max(slot.utilization, state.average);
}

}  // namespace astra
