// What all runs of one simulation share: its options, the groups of ranks, and
// what their collectives cost.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_
#define ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/link_sharing.h"
#include "astra-core/engine/lone_collectives.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/symmetric_times.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// Returns a network at time 0.
using NetworkFactory = std::function<std::unique_ptr<NetworkBackend>()>;

// Returns the names of layers in results; for a program, the names of its
// modules, then "pipeline" for the messages between stages.
std::vector<std::string> LayerNames(const Program& program);

struct SimulationSetting {
  SimulationOptions options;
  Routes& routes;
  const NetworkFactory& new_network;
  ParallelPlan plan;
  PipelineWiring wiring;
  std::shared_ptr<const CollectiveCosts> costs;
  Communicators communicators;
  std::unique_ptr<CollectiveLowering> lowering;
  std::vector<std::string> layer_names;
  std::unique_ptr<LinkSharing> sharing = nullptr;
  std::unique_ptr<SymmetricTimes> symmetric = nullptr;
  std::unique_ptr<LoneCollectives> lone = nullptr;

  bool is_closed_form() const {
    return options.lowering == Lowering::kClosedForm;
  }
};

// `routes` and `new_network` must outlive the result. Errors: those of
// Simulate() for what the options and the inputs say.
absl::StatusOr<SimulationSetting> PrepareSimulation(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_
