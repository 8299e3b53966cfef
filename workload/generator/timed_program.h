// Converts a blueprint and its times into a program.

#ifndef WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
#define WORKLOAD_GENERATOR_TIMED_PROGRAM_H_

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/operators/gpu_spec.h"
#include "workload/program.h"

namespace astra {

// Returns the GPU record of a program whose times are those of `gpu`, with the
// peak of products in `precision`.
ProgramGpu ProgramGpuOf(const GpuSpec& gpu, Precision precision);

// Converts `blueprint`. Successive operators of a pass become one computation.
// `gpu` and `work` are copied into the program.
//
// Errors: the errors of Program::Create.
absl::StatusOr<Program> TimeProgram(const Blueprint& blueprint,
                                    const ModuleTimes& times,
                                    const ProgramGpu& gpu = {},
                                    const ProgramWork& work = {});

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
