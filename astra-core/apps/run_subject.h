// What was run, as pages and files of results need it: a program or an
// execution trace, and the cluster.

#ifndef ASTRA_CORE_APPS_RUN_SUBJECT_H_
#define ASTRA_CORE_APPS_RUN_SUBJECT_H_

#include <string>

#include "astra-core/engine/simulation_options.h"
#include "astra-core/run/events_file.h"
#include "astra-core/run/fidelity.h"
#include "astra-core/run/run.h"
#include "astra-core/run/trace_run.h"
#include "astra-core/traces/trace_lanes.h"
#include "topology/topology.h"
#include "workload/program.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// A view of a request, which must outlive it.
struct RunSubject {
  const Program* program = nullptr;       // Null for an execution trace.
  const ExecutionTrace* trace = nullptr;  // Null for a program.
  const TraceLanes* lanes = nullptr;      // Those of `trace`.
  const Topology& topology;
  Fidelity fidelity;
  const NetworkOptions& network;
  const RunEvents& events;
  const SimulationOptions& simulation;

  // Returns the word by which results call a part of the workload.
  std::string part_name() const { return trace != nullptr ? "node" : "module"; }

  // Whether it has stages of a pipeline that are simulated.
  bool has_stages() const {
    return program != nullptr && program->simulates_pipeline();
  }
};

inline RunSubject SubjectOf(const RunRequest& request) {
  return {.program = &request.program,
          .topology = request.topology,
          .fidelity = request.fidelity,
          .network = request.network,
          .events = request.events,
          .simulation = request.simulation};
}

inline RunSubject SubjectOf(const TraceRunRequest& request) {
  return {.trace = &request.trace,
          .lanes = &request.lanes,
          .topology = request.topology,
          .fidelity = request.fidelity,
          .network = request.network,
          .events = request.events,
          .simulation = request.simulation};
}

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_SUBJECT_H_
