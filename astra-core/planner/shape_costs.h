// What a micro-batch costs on the ranks of a layout, unit by unit of the model:
// what does not depend on the pipeline, on the number of replicas, or on how
// the states are sharded.
//
// Units are the embedding, the blocks, and the logits with the loss. A block's
// collectives count as far as its computation waits for them.

#ifndef ASTRA_CORE_PLANNER_SHAPE_COSTS_H_
#define ASTRA_CORE_PLANNER_SHAPE_COSTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/planner/layout.h"
#include "workload/generator/module_times.h"

namespace astra {

struct UnitCost {
  double forward = 0;   // Seconds of the forward pass.
  double backward = 0;  // Seconds of the backward pass and of recomputation.
  int64_t saved = 0;    // Bytes kept from forward to backward.
  int64_t dense = 0;    // Parameters outside of experts.
  int64_t expert = 0;   // Parameters of experts.
  int64_t casts = 0;    // Bytes of copies of weights in other precisions.

  UnitCost& operator+=(const UnitCost& other);
  friend UnitCost operator-(UnitCost a, const UnitCost& b);
};

struct ShapeCosts {
  std::vector<UnitCost> units;  // Embedding, blocks, logits.
  // Sums over the units before each, and over all at the end.
  std::vector<UnitCost> before;
  int64_t message_bytes = 0;  // Of a message between stages.

  const UnitCost& total() const { return before.back(); }
};

// Returns the costs of a layout, of which the pipeline and the ZeRO stage have
// no effect. `times` are those of the job's GPU under its load.
//
// Errors: those of TrainingBlueprint and of GroupSeconds, whose
// FailedPrecondition is a broken rule of the layout.
absl::StatusOr<ShapeCosts> CostsOf(const PlanJob& job, const Layout& layout,
                                   const ModuleTimes& times,
                                   GroupSeconds& groups);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SHAPE_COSTS_H_
