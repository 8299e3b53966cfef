// Runs one iteration of a workload on a cluster: the whole of what
// simai_analytical and simai_simulator do between their files.
//
//   RunRequest request{.program = *program, .topology = *topology,
//                      .fidelity = Fidelity::kFlow};
//   absl::StatusOr<RunResult> run = Run(request);
//   if (run.ok() && run->status.ok()) Use(run->result.total());

#ifndef ASTRA_CORE_RUN_RUN_H_
#define ASTRA_CORE_RUN_RUN_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/run/explanation.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/registry/registry.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

struct RunRequest {
  Program program;
  Topology topology;
  Fidelity fidelity = Fidelity::kClosedForm;
  NetworkOptions network;  // Read by the networks that have options.
  // What the run is, but for what follows from the fidelity and `trace`: Run()
  // sets `lowering`, `on_network_end` and what is kept of the timeline.
  SimulationOptions simulation;
  bool trace = false;  // Keep as long a timeline as a trace can show.
};

struct RunResult {
  // Ok, or Aborted or Internal with the reason why the run has not finished.
  // All below is then what there was until then.
  absl::Status status;
  SimulationResult result;
  // Present if the run has finished and the stages were simulated.
  std::optional<Explanation> explanation;
  // What the network knew that went on longest, the first of equals: each run
  // of a stage of a program has a network of its own. Empty in closed form.
  NetworkStatistics network;
  TimePs network_time;  // The instant up to which that network was simulated.
};

// Errors: those of Simulate() that RunResult::status does not hold:
// InvalidArgument for an option that has no effect with the fidelity,
// FailedPrecondition if ranks cannot reach one another, and more.
absl::StatusOr<RunResult> Run(const RunRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_RUN_H_
