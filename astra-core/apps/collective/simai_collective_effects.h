// Refuses what is asked of NCCL but has no effect on the one collective that
// simai_collective runs. An iteration of a model has several collectives, where
// one of them may be concerned; a run of this program has one.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_EFFECTS_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_EFFECTS_H_

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/base/collective_kind.h"
#include "collectives/nccl/estimator.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

// Checks that everything that the user asked for in `nccl` concerns collectives
// of `kind`.
//
// Errors: InvalidArgument with the option or the variable, and the collectives
// that it concerns.
absl::Status CheckEffects(CollectiveKind kind, const NcclOptions& nccl);

// Checks the same of what the user gives this program. A file of NCCL's
// variables is left out, for it is for all collectives of a host.
//
// Errors: also those of ApplyNcclSettings.
absl::Status CheckGiven(CollectiveKind kind, NcclSettings settings);

// Checks that an engine has kernels for the group of `cluster`, which must be
// on one server.
//
// Errors: InvalidArgument.
absl::Status CheckEngine(const NcclOptions& nccl,
                         const CollectiveEstimator& cluster);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_EFFECTS_H_
