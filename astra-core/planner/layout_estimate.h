// Estimates the time of an iteration and the memory of a layout by formula, in
// about a microsecond. The whole iteration is simulated elsewhere; this
// estimate decides which layouts are worth it.
//
//   time    m t (1 + bubble) + messages + sharing + optimizer
//
//     m         micro-batches of a replica
//     t         what one of them takes on the slowest stage
//     bubble    IdealBubbleShare() of the schedule
//     messages  a micro-batch's way through all stages, and back
//     sharing   reduction of gradients and gathering of parameters, as far as
//               no computation hides them
//
//   memory  states of the fullest stage and what its micro-batches in flight
//           keep; less than a run allocates, since workspaces are left out
//
// With ZeRO 2 and 3 each block reduces and gathers by itself, in every
// micro-batch, one block ahead of the computation.

#ifndef ASTRA_CORE_PLANNER_LAYOUT_ESTIMATE_H_
#define ASTRA_CORE_PLANNER_LAYOUT_ESTIMATE_H_

#include <cstdint>
#include <optional>

#include "astra-core/planner/group_seconds.h"
#include "astra-core/planner/layout.h"
#include "astra-core/planner/pipeline_shape.h"
#include "astra-core/planner/shape_costs.h"
#include "workload/generator/module_times.h"

namespace astra {

// Times of the optimizer, linear in its bytes.
class OptimizerRates {
 public:
  explicit OptimizerRates(const ModuleTimes& times);

  // Returns the seconds of an update of `share` parameters, with gradients of
  // `all` that are set to zero.
  double Seconds(const TrainingSetup& setup, double share, double all) const;

 private:
  struct Line {
    double start = 0;
    double per_byte = 0;
  };
  Line norm_;
  Line adam_;
  Line zero_;
};

// A layout with all that its estimate needs.
struct LayoutParts {
  const Layout& layout;
  const TrainingSetup& setup;  // SetupOf(layout).
  const ShapeCosts& costs;
  const PipelineCut& cut;
  // Where the layout recomputes some blocks of a chunk: the costs if all of
  // them run again, while `costs` are those if none does. Otherwise `costs`.
  const ShapeCosts& again;
};

// Returns the bytes that the fullest stage allocates at least.
int64_t EstimateMemory(const LayoutParts& parts);

// Returns the least number of blocks of each chunk that must run again for
// EstimateMemory() to be at most `bytes`; none: all are not enough.
//
// Requires that the recomputation is partial; its number does not matter.
std::optional<int64_t> LeastBlocksAgain(const LayoutParts& parts,
                                        int64_t bytes);

// Returns the seconds of an iteration.
double EstimateSeconds(const LayoutParts& parts, const OptimizerRates& rates,
                       GroupSeconds& groups);

// Returns less than or the same as EstimateSeconds() of any layout with these
// stages, micro-batches and costs: no bubble, stages that are equally long, and
// no optimizer. Blocks that run again take longer, so that the costs without
// recomputation are a bound for partial recomputation, too.
double LeastSeconds(const ShapeCosts& costs, int64_t stages,
                    int64_t micro_batches);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_LAYOUT_ESTIMATE_H_
