// Reads the file that describes a sweep. docs/formats/sweeps.md documents the
// format:
//
//   simai_sweep: 1
//   axes:
//     topology: [Spectrum-X, DCN+]
//     tp: {from: 1, to: 8, factor: 2}
//     batch:                        # these move together
//       - {micro: 1, global: 512}
//       - {micro: 2, global: 1024}
//   repeats: 3                      # seed 1, 2, 3
//   let:
//     gpus: 1024
//     dp: ${gpus / tp}
//   constraints: [gpus % tp == 0]
//   exclude: ['topology == "DCN+" and tp == 1']
//   gen_topo: {topology: "${topology}", gpu: "${gpus}"}
//   gen_workload: {model: gpt-7b, gpus: "${gpus}", tp: "${tp}", ...}
//   simai_analytical: {}
//   metrics:
//     cost: ${gpus * iteration_ms}
//   require: [reserved_memory_gib <= 74.5]
//   allow: does-not-fit             # in the memory of the GPU
//   objectives: [minimize: iteration_ms, minimize: cost]

#ifndef ASTRA_CORE_SWEEP_SWEEP_FILE_H_
#define ASTRA_CORE_SWEEP_SWEEP_FILE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/sweep.h"
#include "astra-core/sweep/swept_program.h"

namespace astra {

// Reads a sweep of `programs`, which must outlive it. `file` is the name in
// messages; the sweep is called after it unless it says otherwise.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for
//
//   - text that is not such a file;
//   - an unknown key, program, option or variable (with the nearest name);
//   - an axis that is empty, repeats a value, or has more than kMaxAxisSteps;
//   - a variable that is defined twice or never used;
//   - no program that runs, or two; a section whose output no section reads;
//   - an option that the sweep itself sets; a list for an option of one value;
//   - a metric or an objective with wrong syntax.
absl::StatusOr<Sweep> ReadSweep(std::string_view file,
                                std::string_view contents,
                                std::string_view folder,
                                absl::Span<const SweptProgram> programs);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_FILE_H_
