// A blueprint with times, as the layers of SimAI's text format.
//
// The format knows TP, DP, EP and DP_EP, a computation and a collective for
// each phase of a layer, and one pipeline stage. So
//
//   - every micro-batch is written out;
//   - a module with several collectives in a phase is as many layers;
//   - what one pass computes stands before its collectives;
//   - the names are AICB's, and without sequence parallelism the two layers of
//     attention, and of the feed-forward part, are one;
//   - collectives of the parameters and gradients of all modules come first, as
//     AICB has them, with the computations of the optimizer, which with experts
//     stand in the last of these layers, where no collective runs beside them;
//   - collectives that are hidden behind products are left out, and those that
//     are recomputed are added to the sizes of the forward pass.
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

constexpr int64_t kMaxSimaiLayers = int64_t{1} << 21;

// The entry of `blueprint.stages` whose micro-batch computes longest, the first
// of equals.
size_t SlowestStage(const Blueprint& blueprint, const ModuleTimes& times);

// Stage `stage` of `blueprint`, an index of its stages. Times are rounded to
// whole nanoseconds.
//
// Errors: Unimplemented, naming the program format, for collectives over CP, or
// over ETP where it is not TP, and for prefetched parameters over a group that
// the format has no name for; ResourceExhausted for more than kMaxSimaiLayers.
absl::StatusOr<SimaiText> SimaiTextOf(const Blueprint& blueprint, size_t stage,
                                      const ModuleTimes& times);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_SIMAI_WORKLOAD_H_
