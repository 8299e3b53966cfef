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

#include <algorithm>
#include <vector>

#include "workload/pipeline/schedule_rules.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const int64_t m = shape.micro_batches;
  const int64_t ahead = std::min(shape.stages - 1 - stage, m);
  StageSlots slots({0}, m);
  for (int64_t i = 0; i < ahead; ++i) slots.Forward(0);
  for (int64_t i = 0; i < m; ++i) {
    slots.Forward(0);
    slots.InputGradient(0);
    if (i >= stage) slots.WeightGradient(0);
  }
  for (int64_t i = 0; i < stage; ++i) slots.WeightGradient(0);
  return slots.Take();
}

int64_t SteadyFrom(const PipelineShape& shape) { return shape.stages; }

}  // namespace

ScheduleRules ZbH1Rules() {
  return {
      .schedule = PipelineSchedule::kZbH1,
      .name = "zb-h1",
      .check = &CheckOneChunk,
      .slots = &Slots,
      .first = &FirstStage,
      .next = &NextStage,
      .repetition = &OneMicroBatch,
      .steady_from = &SteadyFrom,
  };
}

}  // namespace astra
