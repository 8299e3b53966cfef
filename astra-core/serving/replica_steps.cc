#include "astra-core/serving/replica_steps.h"

#include <cstdint>
#include <utility>

#include "astra-core/base/status_macros.h"

namespace astra {

absl::StatusOr<std::unique_ptr<ReplicaSteps>> ReplicaSteps::Create(
    const ModelSpec& model, const ServingLayout& layout,
    const std::optional<ModelSpec>& draft, const ServingFacts& facts,
    const PriceSources& sources) {
  const auto prices_of = [&](const ModelSpec& of, const ServingLayout& laid_out,
                             std::optional<int64_t> stage = std::nullopt) {
    return StepPrices(of, laid_out, sources.times, sources.fused, sources.graph,
                      sources.eager, stage);
  };
  std::unique_ptr<ReplicaSteps> steps(
      new ReplicaSteps(prices_of(model, layout), facts));
  ASTRA_RETURN_IF_ERROR(steps->prices_.Check());
  if (draft) {
    StepPrices prices = prices_of(*draft, DraftLayoutOf(*draft, layout));
    ASTRA_RETURN_IF_ERROR(prices.Check());
    steps->drafts_.emplace(std::move(prices), facts);
  }
  if (layout.pipeline == 1) return steps;
  steps->stages_.emplace(facts);
  for (int64_t stage = 0; stage < layout.pipeline; ++stage) {
    steps->stages_->Add(prices_of(model, layout, stage));
  }
  return steps;
}

void ReplicaSteps::AddParts(absl::Span<const StepWork> ranks,
                            std::vector<StepParts>* parts) {
  if (stages_) {
    stages_->AddParts(ranks, parts);
  } else {
    parts->push_back(times_.PartsOf(ranks));
  }
  if (drafts_) parts->back() += drafts_->Of(ranks);
}

void ReplicaSteps::AddStages(absl::Span<const StepWork> ranks,
                             std::vector<TimePs>* stages) {
  parts_.clear();
  AddParts(ranks, &parts_);
  for (const StepParts& parts : parts_) stages->push_back(TimeOfParts(parts));
}

}  // namespace astra
