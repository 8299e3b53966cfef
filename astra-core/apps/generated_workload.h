// Generates the workload that options of gen_workload describe, in memory.

#ifndef ASTRA_CORE_APPS_GENERATED_WORKLOAD_H_
#define ASTRA_CORE_APPS_GENERATED_WORKLOAD_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/gen_workload_times.h"
#include "astra-core/base/log.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/program.h"

namespace astra {

struct GeneratedWorkload {
  Blueprint blueprint;
  std::unique_ptr<GpuTimes> gpu_times;  // `times` refers to it.
  ModuleTimes times;
};

// Generates what one iteration, or one step of inference, computes and
// communicates, and how long each computation takes. Times of an AIOB file go
// before all others. Warns of options that change nothing.
//
// Errors: FailedPrecondition for a layout that breaks a rule; InvalidArgument
// for a GPU without products of the precision; those of GpuTimes::Create and
// ReadAiob.
absl::StatusOr<GeneratedWorkload> GenerateWorkload(
    const GenWorkloadOptions& options, Warnings* warnings);

// Returns the workload, which was generated from `options`, as a program.
// Errors: those of TimeProgram.
absl::StatusOr<Program> ProgramOf(const GenWorkloadOptions& options,
                                  const Blueprint& blueprint,
                                  const ModuleTimes& times);

// The sequences that one iteration, or one step of inference, processes
// on all replicas.
struct Batch {
  int64_t sequences;
  int64_t positions;  // Positions of each sequence.
};

Batch BatchOf(const GenWorkloadOptions& options);

// Returns what one iteration, or one step of inference, is for.
ProgramWork WorkOf(const GenWorkloadOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GENERATED_WORKLOAD_H_
