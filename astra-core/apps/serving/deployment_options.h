// Options that say what a replica is: its precision, layout and engine.

#ifndef ASTRA_CORE_APPS_SERVING_DEPLOYMENT_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_DEPLOYMENT_OPTIONS_H_

#include "absl/status/status.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Reads --dtype. Errors: InvalidArgument for one that the model has not.
absl::Status ReadServingPrecision(const CommandLine& flags, ServingJob& job);

// Reads --replicas, the layout and the precision. Errors: InvalidArgument for
// an option that is wrong or has no effect; those of CheckServingLayout.
absl::Status ReadServingLayout(const CommandLine& flags, ServingJob& job);

// Reads the engine, its scheduler, and what a step may hold. Errors: those of
// LoadInferenceEngine and UseFacts.
absl::Status ReadServingEngine(const CommandLine& flags, ServingJob& job);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_DEPLOYMENT_OPTIONS_H_
