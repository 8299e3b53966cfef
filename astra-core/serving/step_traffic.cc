#include "astra-core/serving/step_traffic.h"

#include <algorithm>

namespace astra {

void StepTraffic::Add(const TrafficPart& part) {
  const auto place = std::lower_bound(
      parts_.begin(), parts_.end(), part.kind,
      [](const TrafficPart& a, const TrafficKind& b) { return a.kind < b; });
  if (place == parts_.end() || place->kind != part.kind) {
    parts_.insert(place, part);
    return;
  }
  place->seconds += part.seconds;
  place->bytes += part.bytes;
}

StepTraffic& StepTraffic::operator+=(const StepTraffic& other) {
  for (const TrafficPart& part : other.parts_) Add(part);
  return *this;
}

StepTraffic StepTraffic::Scaled(double share) const {
  StepTraffic scaled = *this;
  for (TrafficPart& part : scaled.parts_) {
    part.seconds *= share;
    part.bytes *= share;
  }
  return scaled;
}

}  // namespace astra
