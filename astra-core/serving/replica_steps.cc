#include "astra-core/serving/replica_steps.h"

#include <algorithm>
#include <cmath>
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
    StepPrices prices(of, laid_out, sources.times, sources.fused, sources.graph,
                      sources.eager, stage);
    if (sources.watches_traffic) prices.WatchTraffic();
    return prices;
  };
  std::unique_ptr<ReplicaSteps> steps(
      new ReplicaSteps(prices_of(model, layout), facts));
  ASTRA_RETURN_IF_ERROR(steps->prices_.Check());
  if (draft) {
    StepPrices prices = prices_of(*draft, DraftLayoutOf(*draft, layout));
    ASTRA_RETURN_IF_ERROR(prices.Check());
    steps->drafts_.emplace(std::move(prices), facts);
  }
  steps->num_stages_ = layout.pipeline;
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
                             std::vector<StageTime>* stages) {
  parts_.clear();
  AddParts(ranks, &parts_);
  AddTimes(parts_, stages);
}

void ReplicaSteps::AddTimes(absl::Span<const StepParts> parts,
                            std::vector<StageTime>* stages) {
  // The host's program may be a stage in front of those of the pipeline.
  int64_t stage = num_stages_ - static_cast<int64_t>(parts.size());
  for (const StepParts& each : parts) {
    StageTime& time =
        stages->emplace_back(StageTime{.time = TimeOfParts(each)});
    for (const TrafficPart& part : each.gpu.traffic.parts()) {
      time.messages.push_back(
          {.pattern = PatternOf({part.kind, stage}),
           .bytes = part.bytes,
           .time = TimePs(std::llround(part.seconds * kPsPerSecond))});
    }
    ++stage;
  }
}

uint32_t ReplicaSteps::PatternOf(const StagePattern& pattern) {
  const auto known = std::find(patterns_.begin(), patterns_.end(), pattern);
  if (known == patterns_.end()) {
    patterns_.push_back(pattern);
    return static_cast<uint32_t>(patterns_.size() - 1);
  }
  return static_cast<uint32_t>(known - patterns_.begin());
}

}  // namespace astra
