// Makes the result files and the summary of a physical run.

#ifndef ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_REPORT_H_
#define ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/physical/run_beside.h"
#include "astra-core/apps/physical/simai_physical_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/physical/coordinator.h"
#include "astra-core/run/run.h"

namespace astra {

// Holds what the measured iterations of a run took.
struct PhysicalOutcome {
  std::vector<TimePs> iterations;  // Times of iterations without warm-ups.
  // Result of the median of these iterations; of an even number, of the shorter
  // of the two in the middle, since it is that of one iteration.
  SimulationResult result;
  uint32_t num_hosts = 0;
  std::vector<FabricName> networks;  // See PhysicalReports.
  HostTime clock_error{};            // See PhysicalReports.
};

// Returns the outcome of a run from the reports of its ranks.
//
// Errors: those of ResultOf().
absl::StatusOr<PhysicalOutcome> OutcomeOf(const SimaiPhysicalOptions& options,
                                          const SimulationSetting& setting,
                                          const PhysicalReports& reports);

// Returns collectives.csv, ranks.csv and run.json.
std::vector<NamedFile> PhysicalFiles(const SimaiPhysicalOptions& options,
                                     const RunRequest& request,
                                     const Warnings& warnings,
                                     const PhysicalOutcome& outcome);

// Returns the summary that the program prints at the end. `beside` is the
// comparison with a simulated run, if there is one.
std::string DescribePhysical(const SimaiPhysicalOptions& options,
                             const PhysicalOutcome& outcome,
                             const std::optional<Beside>& beside,
                             const std::vector<NamedFile>& files);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_REPORT_H_
