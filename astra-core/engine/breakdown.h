// What every rank did with the time of the iteration.

#ifndef ASTRA_CORE_ENGINE_BREAKDOWN_H_
#define ASTRA_CORE_ENGINE_BREAKDOWN_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "workload/phase.h"

namespace astra {

enum class TimeCategory : uint8_t {
  kCompute,   // At full speed.
  kSlowed,    // What collectives beside it cost the computation.
  kNetwork,   // Waiting for a collective that all members have joined.
  kLate,      // Waiting for a collective that others have yet to join.
  kTransfer,  // Waiting for a message that is on its way.
  kBubble,    // Waiting for a message that was not sent yet.
  kIdle,      // From the end of the rank to that of the iteration.
};
// "compute", "slowed", "network", "late", "transfer", "bubble", "idle".
std::string_view Name(TimeCategory category);

struct TimePart {
  TimeCategory category = TimeCategory::kCompute;
  // But for what is slowed or idle.
  std::optional<LayerId> layer;
  Phase phase = Phase::kForward;
  // But for those and computations.
  std::optional<ParallelDimension> dimension;
  CollectiveKind kind = CollectiveKind::kSendRecv;
  TimePs time;  // Above 0.
};

// The parts of `rank`, one of those of a program's `result`, by category, then
// module and phase. They add up to the total.
std::vector<TimePart> TimePartsOf(const RankResult& rank,
                                  const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_BREAKDOWN_H_
