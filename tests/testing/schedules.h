// Names pipeline schedules in tests.

#ifndef TESTS_TESTING_SCHEDULES_H_
#define TESTS_TESTING_SCHEDULES_H_

#include <ostream>
#include <string>
#include <string_view>

#include "tests/testing/matchers.h"
#include "workload/pipeline/schedule.h"

namespace astra {

inline void PrintTo(PipelineSchedule schedule, std::ostream* out) {
  *out << Name(schedule);
}

namespace testing {

// Returns the schedule of this name, which must be one that users may choose.
inline PipelineSchedule ScheduleNamed(std::string_view name) {
  return ValueOrDie(FindSchedule(name));
}

// Returns the names of all schedules that users may choose, as messages do.
inline std::string ScheduleList() {
  std::string names;
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    names += (names.empty() ? "" : ", ") + std::string(Name(schedule));
  }
  return names;
}

}  // namespace testing
}  // namespace astra

#endif  // TESTS_TESTING_SCHEDULES_H_
