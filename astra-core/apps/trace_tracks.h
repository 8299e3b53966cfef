// The names of the tracks on which the timeline of an execution trace is drawn.

#ifndef ASTRA_CORE_APPS_TRACE_TRACKS_H_
#define ASTRA_CORE_APPS_TRACE_TRACKS_H_

#include "astra-core/apps/iteration_trace.h"
#include "astra-core/traces/trace_lanes.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Returns names such as "DP of group 3", "sends to rank 5, tag 1", "CPU" and
// "copies". Both arguments must outlive the names.
TrackNames TraceTracks(const ExecutionTrace& trace, const TraceLanes& lanes);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_TRACKS_H_
