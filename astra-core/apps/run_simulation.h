// Turns the options of a run into those of its simulation: whose collectives
// there are, on which system, and what was measured of them.

#ifndef ASTRA_CORE_APPS_RUN_SIMULATION_H_
#define ASTRA_CORE_APPS_RUN_SIMULATION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/run/run.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// Tells the options of a simulation what its workload is. A trace has neither
// program nor plan, which are null then.
struct WorkloadFacts {
  const Program* program;
  const ParallelPlan* plan;
  const CollectiveSizes& used;
};

// Returns the options of the simulation of `workload` on `topology`, whose
// GPUs are those of `system` if there is one. Warns of files whose rows the
// workload does not use.
//
// Errors: those of the readers of the files that `options` name;
// InvalidArgument for an option that has no effect on this workload.
absl::StatusOr<SimulationOptions> SimulationOf(
    const RunOptions& options, const std::optional<SystemSpec>& system,
    const WorkloadFacts& workload, const Topology& topology,
    Warnings& warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_SIMULATION_H_
