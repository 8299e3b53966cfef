// run.json and cost.json of simai_simulator.

#ifndef ASTRA_CORE_APPS_SIMULATOR_JSON_H_
#define ASTRA_CORE_APPS_SIMULATOR_JSON_H_

#include <cstdint>
#include <string>

#include "astra-core/apps/simai_simulator_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/apps/simai_simulator_run.h"

namespace astra {

// The inputs as they were understood, and the totals: the same for equal
// inputs, on any number of threads.
std::string SimulatorRunJson(const SimaiSimulatorOptions& options,
                             const SimaiSimulatorInputs& inputs,
                             const SimulatorRun& run);

// What the process has cost until now, `wall_s` of which the run took.
std::string CostJson(const SimaiSimulatorOptions& options,
                     const SimulatorRun& run, double wall_s);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_JSON_H_
