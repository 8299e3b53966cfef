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
#include "astra-core/run/events_file.h"
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
  NetworkOptions network;  // Read only by networks that have options.
  // What happens during the run, in addition to events of `network`. Those of
  // links have an effect on networks that have options only.
  RunEvents events = {};
  // Options of the run. Run() sets `lowering` and `on_network_end` by the
  // fidelity, the timeline options by `trace`, and `speed_changes` by `events`.
  SimulationOptions simulation;
  bool trace = false;   // Keep a timeline as long as a trace can show.
  bool explain = true;  // Keep a timeline for RunResult::explanation.
};

// Returns `network` with the events of links.
NetworkOptions WithEvents(NetworkOptions network, const RunEvents& events);

struct RunResult {
  // Ok, or Aborted or Internal with the reason why the run has not finished.
  // The other fields then describe the run until it ended.
  absl::Status status;
  SimulationResult result;
  // Present if it was asked for, the run has finished and the stages were
  // simulated.
  std::optional<Explanation> explanation;
  // Statistics of the network that was simulated longest, the last of several:
  // each run of a stage has a network of its own. Empty in closed form.
  NetworkStatistics network;
  TimePs network_time;  // Simulated time at the end of that network.
  // The same without the events; present if there are events and the run has
  // finished.
  std::optional<SimulationResult> healthy;
};

// Sets status and result of `run` from what Simulate() returned and left in
// `partial`.
//
// Errors: those of `result` that RunResult::status does not hold.
absl::Status TakeOutcome(absl::StatusOr<SimulationResult> result,
                         SimulationResult partial, RunResult& run);

// Errors: those of Simulate() that RunResult::status does not hold:
// InvalidArgument for an option that has no effect with the fidelity,
// FailedPrecondition if ranks cannot reach one another, and more.
absl::StatusOr<RunResult> Run(const RunRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_RUN_H_
