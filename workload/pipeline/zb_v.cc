// ZB-V: a stage holds two chunks that form a V: stage 0 has the first and the
// last chunk of the model. A stage therefore has the gradient of its chunk 1
// soon after the forward of that chunk. If a forward, an input gradient and a
// weight gradient take equal times and there are at least 2 p - 1
// micro-batches, no stage waits between its first and its last slot: m
// micro-batches take 6 m + p - 1 such times. No stage holds more than 2 p
// chunks of activations, as many bytes as 1F1B holds in chunks of twice the
// size.
//
// The order is the one for equal times. For other times the authors search for
// an order with measured times; this code does not. With fewer than 2 p - 1
// micro-batches the order is the same without the missing micro-batches.
//
// Source: P. Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv
// 2401.10241, section 6; "Pipeline Parallelism with Controllable Memory", arXiv
// 2405.15362. The same order as ScheduleZBVZeroBubble in PyTorch,
// torch/distributed/pipelining/schedules.py.

#include <algorithm>
#include <optional>
#include <vector>

#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

void Gradients(StageSlots& slots, int64_t chunk) {
  slots.InputGradient(chunk);
  slots.WeightGradient(chunk);
}

// Adds the slots until both chunks have their first gradient:
//
//   - 2 (p - s) - 1 forwards of chunk 0, while the first micro-batch goes down
//     the stages and returns;
//   - s times a forward of chunk 1 and one of chunk 0;
//   - p - s times all work of chunk 1.
void FillUp(int64_t stages, int64_t stage, StageSlots& slots) {
  for (int64_t i = 0; i < 2 * (stages - stage) - 1; ++i) slots.Forward(0);
  for (int64_t i = 0; i < stage; ++i) {
    slots.Forward(1);
    slots.Forward(0);
  }
  for (int64_t i = 0; i < stages - stage; ++i) {
    slots.Forward(1);
    Gradients(slots, 1);
  }
}

// Adds the last input gradients of both chunks. Their weight gradients fill the
// end.
void Drain(int64_t stages, int64_t stage, StageSlots& slots) {
  for (int64_t i = 0; i < stage; ++i) {
    slots.InputGradient(0);
    slots.InputGradient(1);
  }
  for (int64_t i = 0; i < stages - stage; ++i) Gradients(slots, 0);
  for (int64_t i = 0; i < stage; ++i) slots.WeightGradient(1);
  for (int64_t i = 0; i < stage; ++i) slots.WeightGradient(0);
}

int64_t SteadyFrom(const PipelineShape& shape) { return 2 * shape.stages - 1; }

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const int64_t planned = std::max(shape.micro_batches, SteadyFrom(shape));
  StageSlots slots({0, 0}, shape.micro_batches);
  FillUp(shape.stages, stage, slots);
  // The forwards of chunk 0 end before those of chunk 1.
  int64_t forwards_left = planned - (2 * shape.stages - 1 - stage);
  for (int64_t i = 0; i < planned - shape.stages; ++i) {
    if (forwards_left-- > 0) slots.Forward(0);
    Gradients(slots, 0);
    slots.Forward(1);
    Gradients(slots, 1);
  }
  Drain(shape.stages, stage, slots);
  return slots.Take();
}

double Bubble(const PipelineShape& shape) {
  return BubbleShare(shape.stages - 1, 3 * shape.chunks * shape.micro_batches);
}

std::optional<Place> Next(const PipelineShape& shape, Place place) {
  if (place.chunk == 0) {
    if (place.stage + 1 < shape.stages) return NextStage(shape, place);
    return Place{.stage = place.stage, .chunk = 1};
  }
  if (place.stage == 0) return std::nullopt;
  return Place{.stage = place.stage - 1, .chunk = 1};
}

}  // namespace

const ScheduleRules& ZbVRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "zb-v", .chunks = 2},
      .slots = &Slots,
      .next = &Next,
      .steady_from = &SteadyFrom,
      .bubble = &Bubble,
  };
  return kRules;
}

}  // namespace astra
