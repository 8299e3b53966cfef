// A collective as steps, for closed forms: who sends to whom in each step, and
// which share of the buffer.

#ifndef COLLECTIVES_STEP_SCHEDULE_H_
#define COLLECTIVES_STEP_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "astra-core/base/ids.h"

namespace astra {

struct StepFlow {
  GroupRank source;  // A member: a rank or a switch.
  GroupRank target;
  double share = 0;  // Share of the request's bytes.
};

struct ScheduleStep {
  int64_t repeat = 1;  // Times that the step happens, one after the other.
  std::vector<StepFlow> flows;
};

struct StepSchedule {
  std::vector<ScheduleStep> steps;

  // True if all steps work at once on different chunks, as in a tree. The bytes
  // of all steps on a link are then added up, and the busiest link sets the
  // pace. Otherwise steps follow one another, and each has its own busiest
  // link.
  bool is_pipelined = false;
};

}  // namespace astra

#endif  // COLLECTIVES_STEP_SCHEDULE_H_
