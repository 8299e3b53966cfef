#include "astra-core/physical/clock_offset.h"

namespace astra {

void ClockOffset::Add(HostTime sent, HostTime answered, HostTime received) {
  const HostTime round_trip = received - sent;
  if (round_trip_ && *round_trip_ <= round_trip) return;
  round_trip_ = round_trip;
  offset_ = answered - (sent + round_trip / 2);
}

}  // namespace astra
