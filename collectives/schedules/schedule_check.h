// Checks that the messages of a schedule carry out its collective.

#ifndef COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_
#define COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_

#include <optional>

#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Executes `schedule` with sets of ranks in the place of data. A rank has one
// copy of a chunk. Arrivals are added to it (kReduce) or replace it (kCopy), in
// the order of the list. A flow carries the data that its source had at the
// start, with the arrivals of the flows for which it waits by name; other
// arrivals do not count.
//
// Returns the first fault: a flow carries a chunk of which its source has
// nothing; it adds a contribution that is already in the sum; it replaces what
// another flow brings, or adds to what it copies, without waiting for the other
// directly or indirectly (two copies of the same data may come in any order);
// or a rank does not end with what the collective demands.
std::optional<ScheduleFault> FindWrongContents(const CustomSchedule& schedule);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_
