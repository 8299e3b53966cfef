// The table of pipeline schedules. A new schedule is declared here, by the name
// of its rules, and put into the table.

#ifndef WORKLOAD_PIPELINE_REGISTRY_H_
#define WORKLOAD_PIPELINE_REGISTRY_H_

#include "workload/pipeline/schedule_rules.h"

namespace astra {

// Each function is defined in the file of its name.
const ScheduleRules& GPipeRules();
const ScheduleRules& OneFOneBRules();
const ScheduleRules& InterleavedRules();
const ScheduleRules& ZbH1Rules();
const ScheduleRules& ZbVRules();
const ScheduleRules& DualPipeRules();
const ScheduleRules& SimaiRules();

inline constexpr const ScheduleRules& (*kSchedules[])() = {
    &GPipeRules, &OneFOneBRules, &InterleavedRules, &ZbH1Rules,
    &ZbVRules,   &DualPipeRules, &SimaiRules,
};

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_REGISTRY_H_
