// A collective as steps that follow one another, for closed forms: who sends to
// whom in each, and which part of the buffer.

#ifndef COLLECTIVES_STEP_SCHEDULE_H_
#define COLLECTIVES_STEP_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "astra-core/base/ids.h"

namespace astra {

struct StepFlow {
  GroupRank source;
  GroupRank target;
  double share = 0;  // Of the bytes of the request.
};

struct ScheduleStep {
  int64_t repeat = 1;  // How many times it happens, one after the other.
  std::vector<StepFlow> flows;
};

using StepSchedule = std::vector<ScheduleStep>;

}  // namespace astra

#endif  // COLLECTIVES_STEP_SCHEDULE_H_
