// Adds to the time of an iteration what its pipeline takes.

#ifndef ASTRA_CORE_ENGINE_ITERATION_PIPELINE_H_
#define ASTRA_CORE_ENGINE_ITERATION_PIPELINE_H_

#include "absl/status/status.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_setting.h"
#include "workload/program.h"

namespace astra {

// Fills in `result.pipeline`, of a run whose messages between ranks were
// simulated. The waiting for messages is moved there from the waiting for
// collectives; the waiting until a message was sent is the bubble.
void MoveMessageWaits(SimulationResult& result);

// Fills in `result.pipeline`, of a run of `program`: what was simulated is
// moved there, and the pipeline of schedule "simai", which is not simulated, is
// added by its formula. Requires link_bytes of the right size.
//
// Errors: those of AddPipeline().
absl::Status FinishPipeline(const Program& program,
                            const SimulationSetting& setting,
                            SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ITERATION_PIPELINE_H_
