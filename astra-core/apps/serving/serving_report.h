// Writes what became of served requests: the page for the screen, and JSON.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_

#include <string>

#include "astra-core/apps/serving/fabric_run.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/simai_serving_options.h"

namespace astra {

// Returns the page for the screen. `fabric` is null without a network.
std::string DescribeServing(const SimaiServingOptions& options,
                            const ServingRun& run,
                            const FabricRun* fabric = nullptr);

// Returns the last words of the page, which name the main results.
std::string ServingResult(const ServingRun& run);

// Returns run.json. `fabric` is null without a network.
std::string ServingRunJson(const SimaiServingOptions& options,
                           const ServingRun& run,
                           const FabricRun* fabric = nullptr);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_
