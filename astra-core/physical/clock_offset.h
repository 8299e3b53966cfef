// Measures by how much the clock of another host is ahead of the own clock,
// with messages that go there and back.
//
// Model: offset = answered - (sent + received) / 2, of the shortest round trip,
// since that one has waited least on its way. The error is at most half of the
// round trip.
//
// Source: D. Mills, RFC 5905, 2010, section 8.

#ifndef ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_
#define ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_

#include <optional>

#include "astra-core/hosts/poller.h"

namespace astra {

class ClockOffset {
 public:
  // Adds a message that was sent at `sent` and whose answer came at `received`,
  // both by the own clock. The other host answered at `answered` by its clock.
  void Add(HostTime sent, HostTime answered, HostTime received);

  // Returns what to add to a time of the own clock to get the time of the other
  // clock. Requires Add(), as does round_trip().
  HostTime offset() const { return offset_; }
  HostTime round_trip() const { return *round_trip_; }

 private:
  std::optional<HostTime> round_trip_;
  HostTime offset_{};
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_
