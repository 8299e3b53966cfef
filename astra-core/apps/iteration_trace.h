// Draws what ranks did in an iteration as tracks of a trace.
//
// Each class of ranks is a process. Its first thread shows what the ranks
// compute and what they wait for. The other threads are its lanes: of a program
// one for each dimension and sort of message, of an execution trace those of
// trace_lanes.h. A lane shows a collective from joining to
// result, and a message while it is on its way, with an arrow from the sender
// to the receiver. Repetitions that were counted but not run are left out; a
// mark says where and how many.

#ifndef ASTRA_CORE_APPS_ITERATION_TRACE_H_
#define ASTRA_CORE_APPS_ITERATION_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "astra-core/apps/trace_events.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"

namespace astra {

// Limits of a trace. A browser cannot show more.
struct TraceLimits {
  uint32_t max_ranks = 64;
  int64_t max_slices = 200'000;
};

// Names the tracks of a timeline: `rank` returns the name of a rank's track,
// and `lane` the name of one of its lanes.
struct TrackNames {
  std::function<std::string(const RankResult&)> rank;
  std::function<std::string(const RankResult&, LaneId)> lane;
};

// Returns the names of stages, ranks, dimensions and kinds of messages.
TrackNames ProgramTracks();

// Adds processes with numbers from `first_process` on. They are at most
// limits.max_ranks ranks, spread over all stages, and all are drawn until the
// same time. Returns remarks that say what is left out.
//
// Requires that `result` has a timeline.
TraceEvents::Arguments AddIteration(const SimulationResult& result,
                                    const TraceLimits& limits,
                                    uint64_t first_process,
                                    const TrackNames& names,
                                    TraceEvents& events);

// Returns a trace.json that holds only the iteration, which is of a program.
std::string IterationTrace(const SimulationResult& result,
                           const TraceLimits& limits = {});

// Returns a line of the summary that says where a trace of `result` ends if
// repetitions are left out of the trace; empty if none are.
std::string DescribeSkipped(const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_ITERATION_TRACE_H_
