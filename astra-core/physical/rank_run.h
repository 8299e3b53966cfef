// Runs an iteration of one rank.

#ifndef ASTRA_CORE_PHYSICAL_RANK_RUN_H_
#define ASTRA_CORE_PHYSICAL_RANK_RUN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/physical/control_message.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/host_collectives.h"
#include "astra-core/physical/rank_plan.h"

namespace astra {

// Runs the rank of `plan` in iteration number `iteration`, which begins at
// `begin`, and returns what it measured. A computation is waiting for the time
// that `program` says, and a collective is sent over `connections`.
//
// Errors: those of HostCollectives.
absl::StatusOr<RankReport> RunRankIteration(const SimulationSetting& setting,
                                            const PipelineProgram& program,
                                            const RankPlan& plan,
                                            uint32_t iteration, Instant begin,
                                            DataConnections& connections,
                                            const HostCollectives::Wait& wait);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RANK_RUN_H_
