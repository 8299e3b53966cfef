// Reads the space of the planner: which values of each choice are searched.

#ifndef ASTRA_CORE_APPS_PLAN_SPACE_OPTIONS_H_
#define ASTRA_CORE_APPS_PLAN_SPACE_OPTIONS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/planner/layout.h"
#include "astra-core/planner/plan_space.h"
#include "workload/frameworks/framework.h"

namespace astra {

// Names of --recompute: those of kRecomputeNames, and as many blocks as it
// takes to fit.
inline constexpr std::string_view kPlanRecomputeNames[] = {"none", "selective",
                                                           "full", "fit"};

// Returns the space of `job`, trained with `framework`. `domain` is the number
// of GPUs that NVLink joins, within which TP stays by default.
//
// Errors: InvalidArgument for an option with a wrong value, and for one without
// effect.
absl::StatusOr<PlanSpace> ReadSpace(const CommandLine& flags,
                                    const PlanJob& job,
                                    const Framework& framework, int64_t domain);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_SPACE_OPTIONS_H_
