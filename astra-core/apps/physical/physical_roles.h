// Runs one process of a physical run: the launcher, rank 0, which coordinates
// as well, or another rank.

#ifndef ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_ROLES_H_
#define ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_ROLES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/physical/simai_physical_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/physical/coordinator.h"
#include "workload/program.h"

namespace astra {

// Holds what each process of a run needs to take part in it. The referenced
// objects must outlive it.
struct PhysicalRun {
  const SimaiPhysicalOptions& options;
  const Program& program;
  const SimulationSetting& setting;
  std::string digest;
  const Log& log;

  uint32_t num_ranks() const {
    return static_cast<uint32_t>(program.sizes().num_ranks);
  }
};

// Returns the secret that the options, the environment or, of a rank that was
// launched, the standard input give.
//
// Errors: InvalidArgument if there is none or it is too short.
absl::StatusOr<Secret> FindSecret(const SimaiPhysicalOptions& options);

// Starts the ranks and coordinates them.
//
// Errors: those of ParseHostFile(), RankPlan, Listen() and Coordinator; Aborted
// "stopped by SIGINT", with the exit code of a shell, for a signal.
absl::StatusOr<PhysicalReports> Launch(const PhysicalRun& run);

// Runs rank 0 and coordinates all ranks.
//
// Errors: those of FindSecret(), RankPlan, Listen() and Coordinator.
absl::StatusOr<PhysicalReports> RunFirstRank(const PhysicalRun& run);

// Runs a rank that does not coordinate.
//
// Errors: those of FindSecret(), RankPlan and RankSession.
absl::Status RunOtherRank(const PhysicalRun& run);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_PHYSICAL_ROLES_H_
