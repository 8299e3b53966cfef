#include "workload/serving/stage_line.h"

#include <algorithm>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {

void StageLine::Advance(std::vector<uint32_t>* entered) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    Place& place = steps_[i];
    const bool is_free = i == 0 || steps_[i - 1].passed > place.passed;
    if (place.is_on_stage || !is_free) continue;
    place.is_on_stage = true;
    entered->push_back(static_cast<uint32_t>(place.passed));
  }
}

size_t StageLine::PlaceOn(uint32_t stage) const {
  const auto place =
      std::find_if(steps_.begin(), steps_.end(), [stage](const Place& each) {
        return each.is_on_stage && each.passed == stage;
      });
  ASTRA_CHECK(place != steps_.end(), "no step is on stage {}", stage);
  return static_cast<size_t>(place - steps_.begin());
}

const StageTime& StageLine::on(uint32_t stage) const {
  return steps_[PlaceOn(stage)].step.stages[stage];
}

std::optional<std::vector<StepRecord>> StageLine::Leave(uint32_t stage) {
  Place& place = steps_[PlaceOn(stage)];
  place.is_on_stage = false;
  if (++place.passed < place.step.stages.size()) return std::nullopt;
  // Steps keep their order, so that it is the first one.
  std::vector<StepRecord> records = std::move(place.step.records);
  steps_.pop_front();
  return records;
}

}  // namespace astra
