// An inference step in the form that Vidur's fork in SimAI reads: for each
// layer and part of it, its time and the bytes it communicates.
//
//   layer_id  layer_name  comp_time  comm_size
//
// with tabs between; layer_name is attention, mlp or moe; times are whole
// nanoseconds.
//
// Source: AICB's Vidur_workload_generator.

#ifndef WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_
#define WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"

namespace astra {

// The layers of all stages. What comes before the first and after the last
// layer, the embedding and the logits, has no place in the format.
//
// Errors: InvalidArgument unless the blueprint is of inference.
absl::StatusOr<std::string> FormatVidurWorkload(const Blueprint& blueprint,
                                                const ModuleTimes& times);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_VIDUR_WORKLOAD_H_
