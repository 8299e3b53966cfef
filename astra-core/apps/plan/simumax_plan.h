// The option --simumax of simai_planner: predicts one iteration from the files
// of SimuMax, and writes files with SimuMax's names.

#ifndef ASTRA_CORE_APPS_PLAN_SIMUMAX_PLAN_H_
#define ASTRA_CORE_APPS_PLAN_SIMUMAX_PLAN_H_

#include <string>

#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/planner/simumax/simulate.h"

namespace astra {

// Returns the page that a run prints.
std::string DescribeSimumax(const SimumaxResult& result);

// Runs --simumax, which was given. Warnings go to `log`.
//
// Errors: InvalidArgument for an option of simai_planner without effect, and
// for a value that is not three paths; those of ReadSimumaxFiles and Simulate.
absl::Status RunSimumax(const CommandLine& flags, const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_SIMUMAX_PLAN_H_
