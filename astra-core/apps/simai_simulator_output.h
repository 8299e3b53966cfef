// The result files of simai_simulator.

#ifndef ASTRA_CORE_APPS_SIMAI_SIMULATOR_OUTPUT_H_
#define ASTRA_CORE_APPS_SIMAI_SIMULATOR_OUTPUT_H_

#include <string>
#include <vector>

#include "astra-core/apps/simai_simulator_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/apps/simai_simulator_run.h"
#include "astra-core/base/files.h"

namespace astra {

// All but cost.json, the same for equal inputs.
std::vector<NamedFile> ResultFiles(const SimaiSimulatorOptions& options,
                                   const SimaiSimulatorInputs& inputs,
                                   const SimulatorRun& run);

// What is printed at the end. The last line says whether the run has finished,
// and if not, why.
std::string DescribeResults(const SimaiSimulatorOptions& options,
                            const SimaiSimulatorInputs& inputs,
                            const SimulatorRun& run,
                            const std::vector<NamedFile>& files);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_SIMULATOR_OUTPUT_H_
