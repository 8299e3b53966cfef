// Runs an engine on a network of its own.

#ifndef ASTRA_CORE_ENGINE_ENGINE_RUN_H_
#define ASTRA_CORE_ENGINE_ENGINE_RUN_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/lone_collectives.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/running_collectives.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/simulation_setting.h"
#include "network-frontends/network_backend.h"

namespace astra {

// Returns what lets collectives be counted again, or null if they may not.
std::unique_ptr<LoneCollectives> LoneCollectivesOf(
    const EngineSetting& setting);

class EngineRun {
 public:
  // All must outlive the object. `options` are those of `setting`, but perhaps
  // others are told.
  EngineRun(const RankProgram& program, const EngineSetting& setting,
            const SimulationOptions& options);

  // Runs until all ranks are done. A run that has begun and does not finish
  // leaves in `partial`, unless that is null, what happened until then.
  //
  // Errors, also below: those of Simulate(); Unavailable where a replay turned
  // out to be none.
  absl::Status ToTheEnd(SimulationResult* partial);

  // Requires that ToTheEnd() has succeeded. Returns the result without layer
  // names, pipeline and bytes of links.
  absl::StatusOr<SimulationResult> TakeResult(const StandIn& stand_in,
                                              SimulationResult* partial);

  // Returns the bytes that the network has carried, by link.
  std::vector<double> link_bytes() const;

  const Engine& engine() const { return engine_; }

 private:
  absl::Status Fill(SimulationResult* partial, const absl::Status& status);

  const EngineSetting& setting_;
  const SimulationOptions& options_;
  std::unique_ptr<NetworkBackend> network_;
  EventQueue timers_;
  RunningCollectives collectives_;
  Engine engine_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ENGINE_RUN_H_
