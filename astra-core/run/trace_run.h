// Runs an execution trace on a cluster, as Run() runs a program.

#ifndef ASTRA_CORE_RUN_TRACE_RUN_H_
#define ASTRA_CORE_RUN_TRACE_RUN_H_

#include "absl/status/statusor.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/run/events_file.h"
#include "astra-core/run/fidelity.h"
#include "astra-core/run/run.h"
#include "astra-core/traces/trace_lanes.h"
#include "network-frontends/registry/registry.h"
#include "topology/topology.h"
#include "workload/traces/execution_trace.h"

namespace astra {

struct TraceRunRequest {
  ExecutionTrace trace;
  TraceLanes lanes;  // LanesOf(trace).
  Topology topology;
  Fidelity fidelity = Fidelity::kClosedForm;
  NetworkOptions network;
  RunEvents events;
  // RunTrace() sets what Run() sets.
  SimulationOptions simulation;
  bool keeps_trace = false;  // Keep a timeline as long as a trace can show.
};

// Returns what came of it, with an explanation that knows nothing of memory.
// Errors: those of SimulateTrace() that RunResult::status does not hold.
absl::StatusOr<RunResult> RunTrace(const TraceRunRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_TRACE_RUN_H_
