// GPipe: all forwards, then all backwards.
//
// Source: Y. Huang et al., "GPipe: Efficient Training of Giant Neural Networks
// using Pipeline Parallelism", NeurIPS 2019, arXiv 1811.06965. In the paper the
// backward passes the micro-batches in reverse order. Here it has the order of
// the forward, as in all other schedules: time and memory are the same, and
// messages never overtake each other.

#include <vector>

#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& shape, int64_t /*stage*/) {
  StageSlots slots({0}, shape.micro_batches);
  for (int64_t i = 0; i < shape.micro_batches; ++i) slots.Forward(0);
  for (int64_t i = 0; i < shape.micro_batches; ++i) slots.Backward(0);
  return slots.Take();
}

}  // namespace

const ScheduleRules& GPipeRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "gpipe", .has_steady_state = false},
      .slots = &Slots,
  };
  return kRules;
}

}  // namespace astra
