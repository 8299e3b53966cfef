#include "astra-core/apps/serving/serving_fabric_options.h"

#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns why options of the fabric have no effect; "" if they have.
absl::Status CheckEffects(const CommandLine& flags, Fidelity fidelity) {
  constexpr std::string_view kAll[] = {"fidelity", "network", "beside",
                                       "beside-first-gpu"};
  if (!flags.has("decode-replicas")) {
    return Refuse(flags, kAll, "there is no --decode-replicas");
  }
  constexpr std::string_view kOfMessages[] = {"network", "beside",
                                              "beside-first-gpu"};
  const BackendEntry* network = NetworkOf(fidelity);
  if (network == nullptr) {
    return Refuse(flags, kOfMessages,
                  "--fidelity closed-form has no network: give flow or packet");
  }
  if (!network->has_options) {
    constexpr std::string_view kFile[] = {"network"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kFile, fmt::format("--fidelity {}", network->name)));
  }
  if (!flags.has("beside")) {
    constexpr std::string_view kPlace[] = {"beside-first-gpu"};
    return Refuse(flags, kPlace, "there is no --beside");
  }
  return Require(flags, "topology");
}

}  // namespace

absl::StatusOr<FabricOptions> ReadFabricOptions(const CommandLine& flags) {
  FabricOptions options;
  if (flags.has("fidelity")) {
    ASTRA_ASSIGN_OR_RETURN(options.fidelity,
                           FindFidelity(*flags.value("fidelity")));
  }
  ASTRA_RETURN_IF_ERROR(CheckEffects(flags, options.fidelity));
  options.network_file = flags.value("network");
  options.beside = flags.value("beside");
  if (flags.has("beside-first-gpu")) {
    constexpr int64_t kMost = int64_t{1} << 24;
    int64_t gpu = 0;
    const IntegerOption place[] = {{"beside-first-gpu", &gpu, kMost}};
    ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, place));
    options.beside_first_gpu = gpu;
  }
  return options;
}

}  // namespace astra
