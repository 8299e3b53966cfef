#include "astra-core/planner/pipeline_shape.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "workload/generator/layout_rules.h"

namespace astra {
namespace {

// Returns by chunk the micro-batches in flight in the slot in which a stage
// with `parts` holds most blocks.
std::vector<int64_t> InFlight(PipelineSchedule schedule,
                              const PipelineShape& shape, int64_t stage,
                              const std::vector<ModelPart>& parts) {
  std::vector<int64_t> now(parts.size());
  std::vector<int64_t> most = now;
  int64_t blocks = 0;
  int64_t most_blocks = -1;
  for (const Slot& slot : SlotsOf(schedule, shape, stage)) {
    const auto chunk = static_cast<size_t>(slot.chunk);
    const int64_t size =
        std::max<int64_t>(1, parts[chunk].end_layer - parts[chunk].first_layer);
    if (slot.kind == SlotKind::kForward) {
      ++now[chunk];
      blocks += size;
    }
    if (blocks > most_blocks) {
      most_blocks = blocks;
      most = now;
    }
    if (slot.kind == SlotKind::kBackward ||
        slot.kind == SlotKind::kWeightGradient) {
      --now[chunk];
      blocks -= size;
    }
  }
  return most;
}

}  // namespace

absl::StatusOr<const PipelineCut*> PipelineCuts::Find(const Layout& layout,
                                                      int64_t micro_batches) {
  const Key key = {&layout.schedule.rules(), layout.pipeline,
                   layout.virtual_stages, micro_batches};
  auto found = cuts_.find(key);
  if (found == cuts_.end()) {
    found = cuts_.emplace(key, Make(layout, micro_batches)).first;
  }
  if (!found->second.ok()) return found->second.status();
  return &*found->second;
}

absl::StatusOr<PipelineCut> PipelineCuts::Make(const Layout& layout,
                                               int64_t micro_batches) const {
  // One rank for each stage. Only what concerns stages can then be illegal.
  Layout stages;
  stages.pipeline = layout.pipeline;
  stages.virtual_stages = layout.virtual_stages;
  stages.schedule = layout.schedule;
  TrainingSetup setup = SetupOf(job_, stages);
  setup.world_size = layout.pipeline;
  setup.global_batch = micro_batches;
  setup.zero_group.reset();
  setup.zero = Zero::kOptimizer;
  ASTRA_RETURN_IF_ERROR(CheckTraining(job_.model, setup));
  PipelineShape shape = {.stages = layout.pipeline,
                         .chunks = setup.chunks(),
                         .micro_batches = micro_batches};
  PipelineCut cut;
  cut.bubble_share = IdealBubbleShare(layout.schedule, shape);
  if (layout.schedule->has_steady_state) {
    const int64_t repetition = RepetitionMicroBatches(layout.schedule, shape);
    const int64_t steady = SteadyFrom(layout.schedule, shape);
    if (micro_batches > steady) {
      shape.micro_batches = steady + (micro_batches - steady) % repetition;
    }
  }
  int64_t number = 0;
  for (std::vector<ModelPart>& parts : PartsOfStages(job_.model, setup)) {
    StageShape& stage = cut.stages.emplace_back();
    stage.in_flight = InFlight(layout.schedule, shape, number++, parts);
    for (const ModelPart& part : parts) {
      cut.most_layers =
          std::max(cut.most_layers, part.end_layer - part.first_layer);
    }
    stage.parts = std::move(parts);
  }
  return cut;
}

}  // namespace astra
