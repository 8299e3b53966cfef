// What each rank did and when, for traces and for the reasons of a time.

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

// A stretch of the computation stream of a rank: an operation that computes, or
// a wait for a call that ended it. They follow one another without gaps, from 0
// to the rank's finish; none is empty.
struct Span {
  static constexpr uint32_t kNoCall = std::numeric_limits<uint32_t>::max();

  TimePs begin;
  TimePs end;
  LayerId layer;  // Or the module; of a wait, those of the call.
  Phase phase = Phase::kForward;
  int32_t chunk = -1;  // -1: no micro-batch.
  int32_t micro_batch = -1;
  uint32_t call = kNoCall;  // Of a wait: which of the rank's calls.
  TimePs slowed;  // Of `end - begin`, what collectives beside it cost.

  bool is_wait() const { return call != kNoCall; }
};

// A collective, or a message between stages, as one rank took part in it.
struct CallSpan {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  size_t record = 0;  // Of SimulationResult::collectives.
  LaneId lane;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  TimePs issued;  // When the program came to it.
  TimePs joined;  // When the one before it on its lane had ended, too.
  TimePs start;   // When the last member had joined.
  TimePs result;
  uint32_t last_member = 0;   // Which of Timeline::ranks joined last.
  uint32_t previous = kNone;  // The call before it on its lane.
};

// Of one rank, or of all ranks of one class.
struct RankTimeline {
  std::vector<Span> spans;
  std::vector<CallSpan> calls;  // In the order of their ends.
};

// What was run more often than it was simulated: of each rank, what lies in
// [begin, end) is there `times` more, one after another, before what comes
// later. `end - begin` is the same for all.
struct SkippedPart {
  int64_t times = 0;
  std::vector<TimePs> begin;  // By rank.
  std::vector<TimePs> end;
};

// Times are those of the simulation, which leaves out what `skipped` says.
struct Timeline {
  std::vector<RankTimeline> ranks;  // Parallel to SimulationResult::ranks.
  std::optional<SkippedPart> skipped;

  bool empty() const { return ranks.empty(); }
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_TIMELINE_H_
