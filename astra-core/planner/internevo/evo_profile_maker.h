// Makes the tables of a profile from this project's models, on InternEvo's
// grid: what its gen_profiler_data.py would measure on the cluster.
//
//   products     the operator times of the GPU, each product alone
//   collectives  NCCL's choice and its time, all groups that lie alike at once
//
// A group of n ranks on each of m servers has n neighbours at the same place of
// m servers that follow one another.
//
// Source: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// internlm/simulator/profiler/perf_comm.py, new_process_group().

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_MAKER_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_MAKER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_profile.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "workload/operators/compute_model.h"

namespace astra {

// Returns the products of the grid in BF16.
std::vector<EvoProduct> ModelProducts(const ComputeModel& model);

// Returns the table of a collective on the first `cluster.world` GPUs of the
// routes' topology.
//
// Errors: those of CollectiveTimes.
absl::StatusOr<EvoCurve> ModelCollective(const EvoKey& key,
                                         const EvoCluster& cluster,
                                         const SystemSpec& system,
                                         const NcclOptions& options,
                                         Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_PROFILE_MAKER_H_
