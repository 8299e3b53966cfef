// One run of simai_simulator: the simulation, and what its networks knew.

#ifndef ASTRA_CORE_APPS_SIMAI_SIMULATOR_RUN_H_
#define ASTRA_CORE_APPS_SIMAI_SIMULATOR_RUN_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/explanation.h"
#include "astra-core/apps/simai_simulator_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"

namespace astra {

struct SimulatorRun {
  // Ok, or Aborted or Internal with the reason why the run has not finished;
  // all below is then what there was until then.
  absl::Status status;
  SimulationResult result;
  std::optional<Explanation> explanation;  // Of programs that have finished.
  // Of the network that went on longest, the first of equals: there is one for
  // each run of a stage of a program.
  NetworkStatistics network;
  TimePs network_time;  // Until which it was simulated.
};

// Runs `inputs`. Meanwhile collectives.csv in the output folder, which must
// exist, grows by each collective that ends.
//
// Errors: those of Simulate() that are not in SimulatorRun::status; then
// collectives.csv is gone.
absl::StatusOr<SimulatorRun> RunSimulator(const SimaiSimulatorOptions& options,
                                          const SimaiSimulatorInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_SIMULATOR_RUN_H_
