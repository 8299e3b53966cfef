// What all runs of one simulation share: its options, the groups of ranks, and
// what their collectives cost.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_
#define ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
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

// Holds what an engine needs beside the programs of the ranks.
struct EngineSetting {
  SimulationOptions options;
  Routes& routes;
  const NetworkFactory& new_network;
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

// What the runs of a program need.
struct SimulationSetting : EngineSetting {
  ParallelPlan plan;
  PipelineWiring wiring;
};

// Returns the own algorithms of `options`, which keep them.
absl::Span<const CustomCollective> CustomsOf(const SimulationOptions& options);

// Returns the setting with what lowers collectives and shares links. `routes`
// and `new_network` must outlive it.
EngineSetting MakeEngineSetting(const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network,
                                std::shared_ptr<const CollectiveCosts> costs,
                                Communicators communicators,
                                std::vector<std::string> layer_names);

// Returns how `options` have the costs of collectives found.
CostSetting CostSettingOf(const SimulationOptions& options);

// Checks that the options of collectives and messages have an effect. With
// `has_pipeline_formula` the messages between stages are a formula, even where
// others are simulated.
//
// Errors: InvalidArgument for an option without effect, or without what it
// needs.
absl::Status CheckCollectiveOptions(const SimulationOptions& options,
                                    bool has_pipeline_formula);

// `routes` and `new_network` must outlive the result. Errors: those of
// Simulate() for what the options and the inputs say.
absl::StatusOr<SimulationSetting> PrepareSimulation(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_SETTING_H_
