// Why an iteration takes as long as it does: the chain of computations and
// transfers of which each begins when the one before it ends, from the start of
// the iteration to its end.
//
// It is found backwards, from the finish of the reported rank. A computation
// began when what came before it on its rank had ended. A wait ended with a
// call, which was on the network since its last member had joined; and that one
// joined when its program came to it or, if that was earlier, when the call
// before on its lane had ended. Where messages are simulated, a rank may have
// its result before all members have joined: then it is the last that had by
// then that counts.
//
// Of repetitions that were counted and not run, see SkippedPart, as much time
// is missing from the path as from every rank, and stretches of the path count
// more often instead, so that the sum is exact. If the path comes back to where
// it was after the time of one repetition or a few, in the last ones that the
// reported rank went through, it would do so for ever, and what counts more
// often is what it did in between: that is what a run of all micro-batches
// would show, but for a rest if they are no multiple. Else it is what the path
// did during the last repetition of the reported rank, which may be different.

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

enum class PathKind : uint8_t { kCompute, kCollective, kMessage };
std::string_view Name(PathKind kind);  // "compute", "collective", "message".

// A computation of one rank, or what a call of it spent on the network.
struct PathPiece {
  static constexpr size_t kNoRecord = std::numeric_limits<size_t>::max();

  TimePs begin;  // Of the simulation.
  TimePs end;
  int64_t repeats = 1;
  uint32_t rank = 0;  // Of SimulationResult::ranks.
  PathKind kind = PathKind::kCompute;
  Phase phase = Phase::kForward;
  LayerId layer;
  int32_t chunk = -1;
  int32_t micro_batch = -1;
  size_t record = kNoRecord;  // Of SimulationResult::collectives.
  bool is_cut = false;        // The piece behind it is the rest of it.

  TimePs time() const { return repeats * (end - begin); }
};

// In order of time, each beginning where the one before it ends; none is empty.
// Their times add up to the total. None without a timeline.
//
// Requires a result of a program.
std::vector<PathPiece> CriticalPath(const SimulationResult& result);

// All pieces of one sort, of all stages.
struct PathPart {
  uint32_t first_stage = 0;  // That has any.
  uint32_t last_stage = 0;
  PathKind kind = PathKind::kCompute;
  LayerId layer;
  Phase phase = Phase::kForward;
  Communication communication{};  // But for computations.
  int64_t count = 0;
  TimePs time;
};

// The longest first, of equals the first in the path.
std::vector<PathPart> PartsOf(absl::Span<const PathPiece> path,
                              const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_CRITICAL_PATH_H_
