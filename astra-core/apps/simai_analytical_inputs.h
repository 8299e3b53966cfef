// The files that a run of simai_analytical reads, checked against one another.

#ifndef ASTRA_CORE_APPS_SIMAI_ANALYTICAL_INPUTS_H_
#define ASTRA_CORE_APPS_SIMAI_ANALYTICAL_INPUTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/simai_analytical_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/communicators.h"
#include "collectives/bus_bandwidth_file.h"
#include "topology/topology.h"

namespace astra {

struct SimaiAnalyticalInputs {
  Program program;
  Topology topology;
  BusBandwidths bus_bandwidths;
  std::optional<NcclSystem> nccl;
  Warnings warnings;
};

// Errors: those of the readers; InvalidArgument if the files and the command
// line disagree on the number or the type of the GPUs, or give something that
// has no effect.
absl::StatusOr<SimaiAnalyticalInputs> ReadInputs(
    const SimaiAnalyticalOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_ANALYTICAL_INPUTS_H_
