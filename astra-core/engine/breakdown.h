// Splits the time of the iteration of each rank by what the rank did.

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
  kCompute,   // Computing, as long as it takes at full speed.
  kSlowed,    // Extra computing time because collectives run beside it.
  kNetwork,   // Waiting for a collective that all members have joined.
  kLate,      // Waiting for a collective that others have yet to join.
  kTransfer,  // Waiting for a message that is on its way.
  kBubble,    // Waiting for a message that was not sent yet.
  kHost,      // Waiting for the CPU or for copies; of traces only.
  kIdle,      // Finished, until the iteration ends.
};
// Returns "compute", "slowed", "network", "late", "transfer", "bubble", "host"
// or "idle".
std::string_view Name(TimeCategory category);

struct TimePart {
  TimeCategory category = TimeCategory::kCompute;
  // Layer or module of this part; none for kSlowed, kHost and kIdle.
  std::optional<LayerId> layer;
  Phase phase = Phase::kForward;
  // Dimension waited for; none for kCompute, kSlowed, kHost and kIdle.
  std::optional<ParallelDimension> dimension;
  CollectiveKind kind = CollectiveKind::kSendRecv;
  TimePs time;  // Duration of this part; above 0.
};

// Returns the parts of the time of `rank`, a rank of `result`, ordered by
// category, then by module and phase. The parts add up to result.total().
std::vector<TimePart> TimePartsOf(const RankResult& rank,
                                  const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_BREAKDOWN_H_
