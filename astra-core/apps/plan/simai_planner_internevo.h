// simai_planner --run_all_solu and --config: plans as InternEvo's simulator
// does.

#ifndef ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_INTERNEVO_H_
#define ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_INTERNEVO_H_

#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Searches or prices, prints the page, and writes the files.
//
// Errors: those of ReadEvoRequest, of what reads the cluster, of
// CheckEvoBatch, of PrepareProfile and of OutputFolder.
absl::Status RunInternEvo(const CommandLine& flags, const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_INTERNEVO_H_
