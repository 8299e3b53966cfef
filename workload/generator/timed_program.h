// A blueprint with times, as a program.

#ifndef WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
#define WORKLOAD_GENERATOR_TIMED_PROGRAM_H_

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/program.h"

namespace astra {

// Successive operators of a pass become one computation.
//
// Errors: those of Program::Create.
absl::StatusOr<Program> TimeProgram(const Blueprint& blueprint,
                                    const ModuleTimes& times);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TIMED_PROGRAM_H_
