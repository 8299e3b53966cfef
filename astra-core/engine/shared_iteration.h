// An iteration on a network that several jobs share. It is simulated in parts,
// between which the other jobs and the network go on:
//
//   ASTRA_ASSIGN_OR_RETURN(auto iteration, SharedIteration::Create(...));
//   ASTRA_ASSIGN_OR_RETURN(bool has_ended, iteration->GoOn());
//   ...  // Until it has ended, the others and the network go on.
//   ASTRA_ASSIGN_OR_RETURN(SimulationResult result, iteration->TakeResult());

#ifndef ASTRA_CORE_ENGINE_SHARED_ITERATION_H_
#define ASTRA_CORE_ENGINE_SHARED_ITERATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/simulation_setting.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/program.h"

namespace astra {

class SharedIteration {
 public:
  // Every micro-batch will be run, with messages. `new_network` is called once.
  // `program`, `routes` and `new_network` must outlive the object.
  //
  // Errors, also below: those of Simulate().
  static absl::StatusOr<std::unique_ptr<SharedIteration>> Create(
      const Program& program, const SimulationOptions& options, Routes& routes,
      const NetworkFactory& new_network);

  // Goes on until the iteration has ended, which returns true, or until others
  // have to go on first.
  absl::StatusOr<bool> GoOn() { return engine_.Run(); }

  // Requires that it has ended. The bytes of links are 0: the network counts
  // those of all jobs together.
  absl::StatusOr<SimulationResult> TakeResult();

 private:
  SharedIteration(const Program& program, SimulationSetting setting);

  const Program& program_;
  const SimulationSetting setting_;
  const PipelineProgram stages_;
  const std::unique_ptr<NetworkBackend> network_;
  EventQueue timers_;
  RunningCollectives collectives_;
  Engine engine_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SHARED_ITERATION_H_
