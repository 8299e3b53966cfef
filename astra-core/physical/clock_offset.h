// Finds by how much the clock of a host is ahead of that of another, from the
// times of messages that go there and back.
//
// Source: D. Mills, RFC 5905, 2010, section 8: the answer of the shortest round
// trip tells most, since what it has waited on its ways is least.

#ifndef ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_
#define ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_

#include <optional>

#include "astra-core/hosts/poller.h"

namespace astra {

class ClockOffset {
 public:
  // A message left at `sent` and its answer came at `received`, both by the own
  // clock; the other host answered at `answered` by its own.
  void Add(HostTime sent, HostTime answered, HostTime received);

  // Requires an answer. What to add to a time of the own clock to have that of
  // the other. The error is at most half of round_trip().
  HostTime offset() const { return offset_; }
  HostTime round_trip() const { return *round_trip_; }

 private:
  std::optional<HostTime> round_trip_;
  HostTime offset_{};
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_CLOCK_OFFSET_H_
