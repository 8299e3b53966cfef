// Formats an inference step for Vidur's fork in SimAI: the time and the bytes
// communicated of each part of each layer.
//
//   layer_id  layer_name  comp_time  comm_size
//
// The columns are separated by tabs. layer_name is attention, mlp or moe. Times
// are whole nanoseconds.
//
// Source: AICB's Vidur_workload_generator.

#ifndef WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_
#define WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"

namespace astra {

// Formats the layers of all stages. The embedding and the logits have no place
// in the format and are left out.
//
// Errors: InvalidArgument unless the blueprint is of inference.
absl::StatusOr<std::string> FormatVidurWorkload(const Blueprint& blueprint,
                                                const ModuleTimes& times);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_
