#include "astra-core/serving/stage_times.h"

#include <algorithm>
#include <utility>

namespace astra {
StageTimes::StageTimes(const ServingFacts& facts)
    : facts_(facts), without_host_(WithoutHost(facts)) {}

void StageTimes::Add(StepPrices prices) {
  const bool has_host = stages_.empty() && facts_.overlapped_host;
  stages_.push_back(std::make_unique<Stage>(std::move(prices),
                                            has_host ? facts_ : without_host_));
}

void StageTimes::AddParts(absl::Span<const StepWork> ranks,
                          std::vector<StepParts>* parts) {
  if (!facts_.overlapped_host) {
    int64_t sequences = 0;
    for (const StepWork& work : ranks) {
      sequences = std::max(sequences, SequencesOf(work));
    }
    parts->push_back({.gpu = {}, .host = facts_.HostSeconds(sequences)});
  }
  for (const auto& stage : stages_) {
    parts->push_back(stage->times.PartsOf(ranks));
  }
}

}  // namespace astra
