// The bytes that the collectives of a step put between servers, by kind of
// collective.
//
//   traffic.Add({.kind = {kind, group, algorithm}, .seconds = s, .bytes = b});
//   for (const TrafficPart& part : traffic.parts()) ...
//
// A step has a few collectives in each layer, most of which are alike. Those of
// one kind, group and algorithm are one part: their bytes and their seconds are
// added up.

#ifndef ASTRA_CORE_SERVING_STEP_TRAFFIC_H_
#define ASTRA_CORE_SERVING_STEP_TRAFFIC_H_

#include <compare>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/planner/group_seconds.h"

namespace astra {

// Collectives whose messages go between the same ranks in the same proportions.
struct TrafficKind {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  RankGroup group;             // Ranks count from the first of the replica.
  std::string_view algorithm;  // Name in collectives/registry.h.

  friend auto operator<=>(const TrafficKind&, const TrafficKind&) = default;
};

struct TrafficPart {
  TrafficKind kind;
  double seconds = 0;  // Closed form of these collectives, all of it.
  // Bytes of their buffers, times the bytes on the wire for each byte.
  double bytes = 0;
};

class StepTraffic {
 public:
  // Returns the parts, ordered by kind.
  absl::Span<const TrafficPart> parts() const { return parts_; }

  void Add(const TrafficPart& part);
  StepTraffic& operator+=(const StepTraffic& other);

  // Returns `share` of this.
  StepTraffic Scaled(double share) const;

 private:
  std::vector<TrafficPart> parts_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_STEP_TRAFFIC_H_
