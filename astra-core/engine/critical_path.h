// The critical path of an iteration: the chain of computations and transfers
// from the start of the iteration to its end, each of which begins when the one
// before it ends.
//
// The path is followed backwards from the finish of the reported rank. A
// computation began when the operation before it on its rank had ended. A wait
// ended with a call, which was on the network from the time its last member had
// joined. That member joined when its program came to the call or, if that was
// earlier, when the last call had ended that the call waits for: the one before
// on its lane or, in a trace, one of another lane. Work of the CPU and copies
// of a trace are calls that a rank joins alone. Where messages are
// simulated, a rank may have its result before all members have joined; then
// the last member that had joined by that time counts.
//
// Repetitions that were counted and not run (see SkippedPart) are missing from
// the path as from every rank. Stretches of the path count more often instead,
// so that the sum is exact. If the path returns to the same place after the
// time of one or a few of the last repetitions of the reported rank, it would
// do so forever, and the stretch in between counts more often. A run of all
// micro-batches would show the same, except for a rest if the repetitions are
// no multiple of the stretch. If the path does not return, the last repetition
// of the reported rank counts more often, which may differ from a full run.

#ifndef ASTRA_CORE_ENGINE_CRITICAL_PATH_H_
#define ASTRA_CORE_ENGINE_CRITICAL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "workload/phase.h"

namespace astra {

enum class PathKind : uint8_t { kCompute, kCollective, kMessage, kHost };
// Returns "compute", "collective", "message" or "host".
std::string_view Name(PathKind kind);

// A computation of one rank, the time of one of its calls on the network, or
// work of its CPU or a copy.
struct PathPiece {
  static constexpr size_t kNoRecord = std::numeric_limits<size_t>::max();

  TimePs begin;  // Simulated time, without skipped repetitions.
  TimePs end;
  int64_t repeats = 1;
  uint32_t rank = 0;  // Index into SimulationResult::ranks.
  PathKind kind = PathKind::kCompute;
  Phase phase = Phase::kForward;
  LayerId layer;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  size_t record = kNoRecord;  // Index into SimulationResult::collectives.
  bool is_cut = false;        // The next piece continues this one.

  TimePs time() const { return repeats * (end - begin); }
};

// Returns the pieces in order of time. Each begins where the one before it
// ends, and none is empty. Their times add up to the total. Empty without a
// timeline.
std::vector<PathPiece> CriticalPath(const SimulationResult& result);

// The pieces of the path that do the same work, summed over all stages.
struct PathPart {
  uint32_t first_stage = 0;  // Lowest stage with such a piece.
  uint32_t last_stage = 0;
  PathKind kind = PathKind::kCompute;
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};  // Default for computations.
  int64_t count = 0;
  TimePs time;
};

// Returns the parts, longest first; parts of equal length are in the order of
// the path.
std::vector<PathPart> PartsOf(absl::Span<const PathPiece> path,
                              const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_CRITICAL_PATH_H_
