// Options of the network on which KV caches move, and of the job beside them.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/run/fidelity.h"

namespace astra {

struct FabricOptions {
  // kClosedForm: each transfer by itself, without a network.
  Fidelity fidelity = Fidelity::kClosedForm;
  std::optional<std::string> network_file;  // NICs and switches.
  std::optional<std::string> beside;        // Workload of a job.
  std::optional<int64_t> beside_first_gpu;  // None: behind the pools.
};

// Errors: InvalidArgument for an option that is wrong or has no effect.
absl::StatusOr<FabricOptions> ReadFabricOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_
