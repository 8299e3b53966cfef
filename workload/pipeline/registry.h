// The table of pipeline schedules. A new schedule is declared here, by the name
// of its rules, and put into the table.

#ifndef WORKLOAD_PIPELINE_REGISTRY_H_
#define WORKLOAD_PIPELINE_REGISTRY_H_

#include "workload/pipeline/schedule_rules.h"

namespace astra {

// Each is defined in the file of its name.
extern const ScheduleRules kGPipe;
extern const ScheduleRules k1F1B;
extern const ScheduleRules kInterleaved;
extern const ScheduleRules kZbH1;
extern const ScheduleRules kZbV;
extern const ScheduleRules kDualPipe;
extern const ScheduleRules kSimai;

inline constexpr const ScheduleRules* kSchedules[] = {
    &kGPipe, &k1F1B, &kInterleaved, &kZbH1, &kZbV, &kDualPipe, &kSimai,
};

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_REGISTRY_H_
