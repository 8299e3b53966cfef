// Telemetry that data packets gather at switches and that acknowledgements
// bring back to the sender, if the congestion control asks for any.
//
//   packet.telemetry = telemetry.Take();        // As the packet is made.
//   telemetry.Stamp(link, port, packet, now);   // As it leaves a switch.
//   telemetry.Free(packet.telemetry);           // As its ACK is there.
//
// Telemetry::kPerHop writes a record of each port. Telemetry::kUtilization
// keeps for each port an average U of its utilization, updated with each data
// packet that leaves: with dt the time since the packet before, at most the
// round trip T of the network, and B the rate,
//
//   U <- (1 - dt/T) U + queued dt/(B T^2) + sent/(B T)
//
// and a packet keeps the largest average of the ports on its path.
//
// Source of the average: R. Ben Basat et al., "PINT", SIGCOMM 2020, section
// 4.3, example 3.

#ifndef NETWORK_FRONTENDS_PACKET_TELEMETRY_H_
#define NETWORK_FRONTENDS_PACKET_TELEMETRY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/slot_pool.h"

namespace astra {

// Telemetry of one packet.
struct TelemetrySlot {
  TimePs sent;
  double utilization = 0;  // Largest of the ports on the path.
  // In an ACK: the packet that it answers, if that came out of order.
  PacketNumber arrived = kNoId<PacketNumber>;
  uint32_t num_hops = 0;
  std::array<HopTelemetry, PacketSetup::kMaxHops> hops;
};

class TelemetrySlots {
 public:
  // `network_rtt` is T.
  TelemetrySlots(const PacketSetup& setup, TimePs network_rtt);

  // Returns whether data packets carry telemetry.
  bool is_carried() const { return kind_ != Telemetry::kNone; }

  TelemetrySlot& operator[](TelemetryId id) { return slots_[id]; }
  // Returns an empty slot.
  TelemetryId Take();
  void Free(TelemetryId id) {
    if (id != kNoId<TelemetryId>) slots_.Free(id);
  }

  // Notes what `port` of a switch tells of itself as `packet` begins to leave
  // at `start`.
  void Stamp(LinkId link, const Port& port, const Packet& packet,
             TimePs start) {
    if (kind_ == Telemetry::kPerHop) AddHop(port, packet, start);
    if (kind_ == Telemetry::kUtilization) {
      AddUtilization(link, port, packet, start);
    }
  }

 private:
  // Average utilization of a port, U.
  struct Utilization {
    double average = 0;
    TimePs updated;
    uint64_t sent_bytes = 0;  // By the port at `updated`.
  };

  void AddHop(const Port& port, const Packet& packet, TimePs start);
  void AddUtilization(LinkId link, const Port& port, const Packet& packet,
                      TimePs start);

  const Telemetry kind_;
  const TimePs network_rtt_;
  SlotPool<TelemetryId, TelemetrySlot> slots_;
  // Utilization of each link's port; empty: not needed.
  std::vector<Utilization> utilization_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_TELEMETRY_H_
