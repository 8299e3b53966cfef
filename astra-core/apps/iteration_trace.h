// What ranks did in an iteration, as tracks of a trace.
//
// Each class of ranks is a process. Its first thread is the computation: what
// it computes, and what it waits for. The others are its lanes, one for each
// dimension and sort of message that it uses: collectives from its joining to
// its result, messages while they are on their way, with an arrow from the
// sender to the receiver. Repetitions that were counted and not run are left
// out; a mark says where and how many.

#ifndef ASTRA_CORE_APPS_ITERATION_TRACE_H_
#define ASTRA_CORE_APPS_ITERATION_TRACE_H_

#include <cstdint>
#include <string>

#include "astra-core/apps/trace_events.h"
#include "astra-core/engine/result.h"

namespace astra {

// A browser shows no more.
struct TraceLimits {
  uint32_t max_ranks = 64;
  int64_t max_slices = 200'000;
};

// Adds processes from `first_process` on: as many ranks as there may be, spread
// over all stages, and all of them until the same time. Returns remarks that
// say what is left out.
//
// Requires a timeline.
TraceEvents::Arguments AddIteration(const SimulationResult& result,
                                    const TraceLimits& limits,
                                    uint64_t first_process,
                                    TraceEvents& events);

// trace.json with nothing else.
std::string IterationTrace(const SimulationResult& result,
                           const TraceLimits& limits = {});

// A line of the summary that says where a trace of `result` ends if repetitions
// are left out of it; empty if none are.
std::string DescribeSkipped(const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_ITERATION_TRACE_H_
