// Adds to the time of an iteration what its pipeline takes.

#ifndef ASTRA_CORE_ENGINE_ITERATION_PIPELINE_H_
#define ASTRA_CORE_ENGINE_ITERATION_PIPELINE_H_

#include "absl/status/status.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_setting.h"
#include "workload/program.h"

namespace astra {

// Moves the waiting for messages of other ranks from that for collectives to
// the pipeline of `result`: until a message was sent it is the bubble.
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
