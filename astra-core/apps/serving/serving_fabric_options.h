// Options of the network on which a deployment serves, of the weights that are
// loaded over it, and of the job beside it.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/run/fidelity.h"

namespace astra {

// Tells where replicas get their weights from; see weight_loading.h.
enum class WeightSource : uint8_t { kStorage, kReplica };

// Returns the spelling in options and results.
std::string_view Name(WeightSource source);

struct FabricOptions {
  // kClosedForm: each transfer by itself, without a network.
  Fidelity fidelity = Fidelity::kClosedForm;
  std::optional<std::string> network_file;   // NICs and switches.
  std::optional<std::string> beside;         // Workload of a job.
  std::optional<int64_t> beside_first_gpu;   // None: behind the pools.
  std::optional<WeightSource> load_weights;  // None: they are there.
  std::optional<int64_t> storage_first_gpu;  // None: behind the pools.
};

// Errors: InvalidArgument for an option that is wrong or has no effect.
absl::StatusOr<FabricOptions> ReadFabricOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_FABRIC_OPTIONS_H_
