// The timeline of each rank, for traces and for the critical path.

#ifndef ASTRA_CORE_ENGINE_TIMELINE_H_
#define ASTRA_CORE_ENGINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/engine/rank_program.h"
#include "workload/phase.h"

namespace astra {

// A stretch of the computation stream of a rank: a computation, or a wait that
// a call ended. Spans follow one another without gaps, from 0 to the rank's
// finish, and none is empty.
struct Span {
  static constexpr uint32_t kNoCall = std::numeric_limits<uint32_t>::max();

  TimePs begin;
  TimePs end;
  LayerId layer;  // Layer or module; for a wait, that of the call.
  Phase phase = Phase::kForward;
  int32_t chunk = -1;  // -1: no micro-batch.
  int32_t micro_batch = -1;
  uint32_t call = kNoCall;  // For a wait: index into RankTimeline::calls.
  TimePs slowed;            // Time lost to collectives that run beside it.

  bool is_wait() const { return call != kNoCall; }
};

// A collective, or a message between stages, as one rank took part in it.
struct CallSpan {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  size_t record = 0;  // Index into SimulationResult::collectives.
  LaneId lane;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  TimePs issued;  // When the program of the rank came to the call.
  TimePs joined;  // When the rank joined: the lane was free, too.
  TimePs start;   // When the last member had joined.
  TimePs result;
  uint32_t last_member = 0;   // Index into Timeline::ranks.
  uint32_t previous = kNone;  // Index of the call before it on its lane.
};

// The timeline of one rank, or of each rank of a class.
struct RankTimeline {
  std::vector<Span> spans;
  std::vector<CallSpan> calls;  // In the order of their ends.
};

// Repetitions that are counted but not simulated. On each rank, the stretch
// [begin, end) happens `times` more, one after another, before what comes
// later. `end - begin` is the same for all ranks.
struct SkippedPart {
  int64_t times = 0;
  std::vector<TimePs> begin;  // By rank.
  std::vector<TimePs> end;
};

// The timelines of all ranks. Their times leave out the repetitions of
// `skipped`.
struct Timeline {
  std::vector<RankTimeline> ranks;  // Parallel to SimulationResult::ranks.
  std::optional<SkippedPart> skipped;

  bool empty() const { return ranks.empty(); }
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_TIMELINE_H_
