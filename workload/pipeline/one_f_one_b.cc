// 1F1B: a stage runs forwards until the first gradient reaches it, and then one
// forward and one backward in turn. It therefore holds at most as many
// activations as there are stages from it to the end.
//
// Source: the flushing schedule of PipeDream, in D. Narayanan et al.,
// "Efficient Large-Scale Language Model Training on GPU Clusters Using
// Megatron-LM", SC 2021, section 2.2.1; Megatron-LM,
// pipeline_parallel/schedules.py.

#include <algorithm>
#include <vector>

#include "workload/pipeline/schedule_rules.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const int64_t ahead = std::min(shape.stages - 1 - stage, shape.micro_batches);
  StageSlots slots({0}, shape.micro_batches);
  for (int64_t i = 0; i < ahead; ++i) slots.Forward(0);
  for (int64_t i = ahead; i < shape.micro_batches; ++i) {
    slots.Forward(0);
    slots.Backward(0);
  }
  for (int64_t i = 0; i < ahead; ++i) slots.Backward(0);
  return slots.Take();
}

int64_t SteadyFrom(const PipelineShape& shape) { return shape.stages; }

}  // namespace

ScheduleRules OneFOneBRules() {
  return {
      .schedule = PipelineSchedule::k1F1B,
      .name = "1f1b",
      .check = &CheckOneChunk,
      .slots = &Slots,
      .first = &FirstStage,
      .next = &NextStage,
      .repetition = &OneMicroBatch,
      .steady_from = &SteadyFrom,
  };
}

}  // namespace astra
