// simai_serving --plan: ranks deployments by the closed form and replays the
// best of them.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PLAN_RUN_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PLAN_RUN_H_

#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Plans, prints the page, and writes the tables and the folders of the best.
//
// Errors: those of ReadServingPlanJob, PlanShapes and Serve(); InvalidArgument
// where no shape of a replica can be.
absl::Status RunServingPlan(const CommandLine& flags, const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PLAN_RUN_H_
