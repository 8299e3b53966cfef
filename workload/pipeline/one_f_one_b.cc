// 1F1B: a stage runs forwards until the first gradient reaches it, and then one
// forward and one backward in turn. It therefore holds at most as many
// activations as there are stages from it to the end.
//
// Source: the flushing schedule of PipeDream, in D. Narayanan et al.,
// "Efficient Large-Scale Language Model Training on GPU Clusters Using
// Megatron-LM", SC 2021, section 2.2.1; Megatron-LM,
// pipeline_parallel/schedules.py.

#include <vector>

#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  const auto backward = [](StageSlots& slots, int64_t) { slots.Backward(0); };
  return AlternatingSlots(shape, stage, backward).Take();
}

}  // namespace

const ScheduleRules& OneFOneBRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "1f1b"},
      .slots = &Slots,
      .steady_from = &OneForEachStage,
  };
  return kRules;
}

}  // namespace astra
