// ZB-H1: 1F1B with the backward in two halves. The gradient of the input, for
// which the previous stage waits, goes first. Stage s runs the gradient of the
// weights s micro-batches later, which fills the end of an iteration, when
// gradients only go back. Each stage then holds up to p activations, as only
// the first stage does in 1F1B, and p - s of these until their input gradient.
//
// If w <= f and w <= b, the time is
//
//   m (f + b + w) + (p - 1) (f + b - w) + max(0, p - m) w
//
// Source: P. Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv
// 2401.10241, section 2.

#include <vector>

#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const auto backward = [stage](StageSlots& slots, int64_t i) {
    slots.InputGradient(0);
    if (i >= stage) slots.WeightGradient(0);
  };
  StageSlots slots = AlternatingSlots(shape, stage, backward);
  for (int64_t i = 0; i < stage; ++i) slots.WeightGradient(0);
  return slots.Take();
}

double Bubble(const PipelineShape& shape) {
  return BubbleShare(shape.stages - 1, 3 * shape.micro_batches);
}

}  // namespace

const ScheduleRules& ZbH1Rules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "zb-h1"},
      .slots = &Slots,
      .steady_from = &OneForEachStage,
      .bubble = &Bubble,
  };
  return kRules;
}

}  // namespace astra
