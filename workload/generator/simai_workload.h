// Writes a timed blueprint as the layers of SimAI's text format.
//
// The format has only the dimensions TP, DP, EP and DP_EP, one computation and
// one collective for each phase of a layer, and one pipeline stage. Therefore
//
//   - every micro-batch is written out;
//   - a module with several collectives in a phase becomes as many layers;
//   - the computation of a pass stands before its collectives;
//   - the names are AICB's. Without sequence parallelism, the two layers of
//     attention are merged into one, and so are those of the feed-forward part;
//   - collectives of the parameters and gradients of all modules come first, as
//     in AICB, with the computations of the optimizer. With experts, these
//     stand in the last of these layers, where no collective runs beside them;
//   - collectives that are hidden behind products are left out, and recomputed
//     collectives are added to the sizes of the forward pass.
//
// docs/aicb-differences.md lists where the layers differ from AICB's.

#ifndef WORKLOAD_GENERATOR_SIMAI_WORKLOAD_H_
#define WORKLOAD_GENERATOR_SIMAI_WORKLOAD_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/simai_text/simai_text.h"

namespace astra {

// Returns the index in `blueprint.stages` of the stage whose micro-batch
// computes longest; of equal stages, the first.
size_t SlowestStage(const Blueprint& blueprint, const ModuleTimes& times);

// Converts one stage of `blueprint`, given by its index. Times are rounded to
// whole nanoseconds.
//
// Errors: Unimplemented, with a hint to the program format, for collectives
// over CP, or over ETP where it differs from TP, and for prefetched parameters
// over a group that the format cannot name; ResourceExhausted for more than
// kMaxSimaiLayers.
absl::StatusOr<SimaiText> SimaiTextOf(const Blueprint& blueprint, size_t stage,
                                      const ModuleTimes& times);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_SIMAI_WORKLOAD_H_
