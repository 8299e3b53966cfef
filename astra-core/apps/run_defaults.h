// The defaults of simai_analytical and simai_simulator.

#ifndef ASTRA_CORE_APPS_RUN_DEFAULTS_H_
#define ASTRA_CORE_APPS_RUN_DEFAULTS_H_

#include <string>

#include "astra-core/apps/run_options.h"

namespace astra {

const RunDefaults& SimaiAnalyticalDefaults();
const RunDefaults& SimaiSimulatorDefaults();

// Returns the text of --help.
std::string HelpOf(const RunDefaults& defaults);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_DEFAULTS_H_
