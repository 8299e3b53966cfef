// The files that a run of simai_simulator reads, checked against one another.

#ifndef ASTRA_CORE_APPS_SIMAI_SIMULATOR_INPUTS_H_
#define ASTRA_CORE_APPS_SIMAI_SIMULATOR_INPUTS_H_

#include "absl/status/statusor.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/simulation.h"
#include "network-frontends/registry/registry.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

struct SimaiSimulatorInputs {
  Program program;
  ParallelPlan plan;
  Topology topology;
  NetworkOptions network;  // With what the command line says.
  SimulationOptions simulation;
  Warnings warnings;
};

// Errors: those of the readers and of CheckPacketOptions; InvalidArgument if
// the files and the command line disagree or something has no effect.
absl::StatusOr<SimaiSimulatorInputs> ReadInputs(
    const SimaiSimulatorOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_SIMULATOR_INPUTS_H_
