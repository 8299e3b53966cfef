#include "astra-core/apps/rank_computations.h"

#include <algorithm>

#include "workload/memory_timeline.h"

namespace astra {

RankComputations::RankComputations(const SimulationResult& result,
                                   int64_t stage) {
  if (result.timeline.empty()) return;
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    if (result.ranks[i].stage != stage) continue;
    for (const Span& span : result.timeline.ranks[i].spans) {
      if (span.is_wait()) continue;
      of_place_[{span.chunk, span.micro_batch}].push_back(&span);
      last_ = std::max(last_, span.micro_batch);
    }
    return;
  }
}

int64_t RankComputations::MicroBatches(const Program& program) const {
  return empty() ? LeastMicroBatches(program) : last_ + 1;
}

TimePs RankComputations::TimeOf(const MemoryEvent& event, TimePs now) const {
  const bool is_first = !event.slot && event.use != MemoryUse::kWorkspace;
  if (is_first) return now;
  const auto found = of_place_.find(
      event.slot ? std::pair(event.slot->chunk, event.slot->micro_batch)
                 : std::pair(-1, -1));
  if (found == of_place_.end()) return now;
  const std::vector<const Span*>& spans = found->second;
  if (event.is_release && event.computed > 0) {
    return std::max(now,
                    spans[std::min(event.computed, spans.size()) - 1]->end);
  }
  return std::max(now, event.computed < spans.size()
                           ? spans[event.computed]->begin
                           : spans.back()->end);
}

}  // namespace astra
