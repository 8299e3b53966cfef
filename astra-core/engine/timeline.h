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
// the end of a call ended. Spans follow one another without gaps, from 0 to the
// rank's finish, and none is empty.
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

// The part of a rank in a call.
enum class CallRole : uint8_t {
  kMember,    // Of a collective.
  kSender,    // Of a message.
  kReceiver,  // Of a message.
  kDelay,     // Of work of the CPU, or of a copy, which no other rank sees.
};

// A collective, a message or a delay, as one rank took part in it.
struct CallSpan {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  static constexpr size_t kNoRecord = std::numeric_limits<size_t>::max();

  // Index into SimulationResult::collectives; kNoRecord of a delay.
  size_t record = kNoRecord;
  CallRole role = CallRole::kMember;
  Phase phase = Phase::kForward;
  LayerId layer;
  LaneId lane;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  TimePs issued;  // When the program of the rank came to the call.
  TimePs joined;  // When the rank joined: all that it waits for had ended.
  TimePs start;   // When the last member had joined.
  TimePs result;
  uint32_t last_member = 0;  // Index into Timeline::ranks.
  // Index of the call whose end let the rank join: the one before on the lane,
  // or the last one of other lanes that it waits for. kNone if the rank joined
  // as its program came to the call.
  uint32_t cause = kNone;

  bool is_message() const {
    return role == CallRole::kSender || role == CallRole::kReceiver;
  }
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
