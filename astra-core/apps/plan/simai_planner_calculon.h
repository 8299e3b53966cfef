// simai_planner --calculon: predicts an iteration from the files of Calculon,
// with its assumptions and in the form of its statistics.

#ifndef ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_CALCULON_H_
#define ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_CALCULON_H_

#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Reads the three files, writes calculon.json, run.json and summary.txt, and
// prints the summary.
//
// Errors: InvalidArgument for another number of files, an option beside
// --calculon that has no effect, and an execution that does not fit into the
// memories; those of ReadFile(), ReadCalculonInputs() and OutputFolder.
absl::Status RunCalculon(const CommandLine& flags, const Log& log);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_CALCULON_H_
