// Runs an execution trace on a cluster.

#ifndef ASTRA_CORE_TRACES_TRACE_SIMULATION_H_
#define ASTRA_CORE_TRACES_TRACE_SIMULATION_H_

#include "absl/status/statusor.h"
#include "astra-core/engine/bounds.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/traces/trace_lanes.h"
#include "topology/routes.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Runs all nodes of `trace`, whose ranks are the GPUs of the topology, and
// returns what Simulate() returns for a program. The names of nodes are the
// layers; each rank is a class of its own. `lanes` are LanesOf(trace).
//
// Of a run that has begun and does not finish, `partial`, unless it is null,
// gets what happened until then.
//
// Errors: those of Simulate(); InvalidArgument if the topology has another
// number of GPUs, and for options that have no effect on a trace.
absl::StatusOr<SimulationResult> SimulateTrace(
    const ExecutionTrace& trace, const TraceLanes& lanes,
    const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network, SimulationResult* partial = nullptr);

// Returns what BoundsOf() returns for a program. Work of the CPU and copies
// count to the computations. Errors: those of SimulateTrace().
absl::StatusOr<Bounds> TraceBounds(const ExecutionTrace& trace,
                                   const TraceLanes& lanes,
                                   const SimulationOptions& options,
                                   Routes& routes,
                                   const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_TRACE_SIMULATION_H_
