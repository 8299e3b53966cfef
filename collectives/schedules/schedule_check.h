// Whether the messages of a schedule carry out its collective.

#ifndef COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_
#define COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_

#include <optional>

#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Executes `schedule` with sets of ranks in the place of data. A rank has one
// copy of a chunk. Arrivals are added to it (kReduce) or replace it (kCopy), in
// the order of the list. A flow carries what its source had at the start and
// what arrived of it in the flows it waits for, those it names: as if all other
// arrivals were put aside.
//
// Returns the first of: a flow carries a chunk of which its source has nothing;
// it adds a contribution that is in there; it replaces what another brings, or
// adds to what it copies, without waiting for that one, directly or through
// others (two copies of the same may come in any order); a rank does not end
// with what the collective demands.
std::optional<ScheduleFault> FindWrongContents(const CustomSchedule& schedule);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_SCHEDULE_CHECK_H_
