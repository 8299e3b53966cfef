// simai_simulator: runs one iteration of a workload, message by message, on a
// simulated network, or several jobs on one network.

#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/run_program.h"
#include "astra-core/apps/simulator/deployment_job.h"

int main(int argc, char** argv) {
  return astra::RunProgram(astra::SimaiSimulatorDefaults(), argc, argv,
                           astra::ReadDeploymentJob);
}
