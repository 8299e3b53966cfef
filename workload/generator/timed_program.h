// A blueprint with times, as a program.

#ifndef WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
#define WORKLOAD_GENERATOR_TIMED_PROGRAM_H_

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/operators/gpu_spec.h"
#include "workload/program.h"

namespace astra {

// What a program says of the GPU that its times are of, with the peak of
// products in `precision`.
ProgramGpu ProgramGpuOf(const GpuSpec& gpu, Precision precision);

// Successive operators of a pass become one computation. `gpu` and `work` are
// taken over.
//
// Errors: those of Program::Create.
absl::StatusOr<Program> TimeProgram(const Blueprint& blueprint,
                                    const ModuleTimes& times,
                                    const ProgramGpu& gpu = {},
                                    const ProgramWork& work = {});

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
