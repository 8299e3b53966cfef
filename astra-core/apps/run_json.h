// run.json: the inputs of a run as they were understood, and the totals.

#ifndef ASTRA_CORE_APPS_RUN_JSON_H_
#define ASTRA_CORE_APPS_RUN_JSON_H_

#include <optional>
#include <string>

#include "astra-core/apps/explanation.h"
#include "astra-core/apps/simai_analytical_inputs.h"
#include "astra-core/apps/simai_analytical_options.h"
#include "astra-core/engine/result.h"

namespace astra {

// The same for equal inputs: it says nothing of when, where, or how long.
std::string RunJson(const SimaiAnalyticalOptions& options,
                    const SimaiAnalyticalInputs& inputs,
                    const SimulationResult& result,
                    const std::optional<Explanation>& explanation);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_JSON_H_
