// SimAI: the layers of one stage run forward once and backward once.
//
// SimAI's text lists the layers of all micro-batches of a stage, so that one
// forward and one backward slot are the whole iteration, whatever the number of
// micro-batches and chunks. Time that other stages add is a formula; see
// astra-core/engine/pipeline.h.

#include <optional>
#include <vector>

#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

std::vector<Slot> Slots(const PipelineShape& /*shape*/, int64_t /*stage*/) {
  StageSlots slots({0}, 1);
  slots.Forward(0);
  slots.Backward(0);
  return slots.Take();
}

std::optional<Place> Next(const PipelineShape& /*shape*/, Place /*place*/) {
  return std::nullopt;
}

}  // namespace

const ScheduleRules& SimaiRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "simai", .chunks = 0, .simulates_stages = false},
      .slots = &Slots,
      .next = &Next,
  };
  return kRules;
}

}  // namespace astra
