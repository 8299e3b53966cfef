// Reads the options of simai_serving under "Mechanics": how the replicas of an
// engine work beside their scheduler.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_MECHANICS_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_MECHANICS_OPTIONS_H_

#include "absl/status/status.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Requires a job with a scheduler and a layout. Errors: InvalidArgument for an
// option that is wrong, missing or without effect; those of FindModel.
absl::Status ReadMechanics(const CommandLine& flags, ServingJob& job,
                           Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_MECHANICS_OPTIONS_H_
