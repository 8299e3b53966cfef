#include "astra-core/apps/serving/serving_fabric_options.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the GPU that an option names, if it is given.
absl::StatusOr<std::optional<int64_t>> ReadGpu(const CommandLine& flags,
                                               std::string_view option) {
  if (!flags.has(option)) return std::nullopt;
  int64_t gpu = 0;
  const IntegerOption place[] = {{option, &gpu, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, place));
  return gpu;
}

constexpr std::string_view kWeightSources[] = {"storage", "replica"};

absl::Status CheckEffects(const CommandLine& flags, Fidelity fidelity) {
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

absl::StatusOr<WeightSource> FindWeightSource(std::string_view name) {
  for (size_t i = 0; i < std::size(kWeightSources); ++i) {
    if (kWeightSources[i] == name) return static_cast<WeightSource>(i);
  }
  return absl::InvalidArgumentError(fmt::format(
      "--load-weights is \"{}\": expected storage or replica", name));
}

absl::Status ReadWeights(const CommandLine& flags, FabricOptions& options) {
  constexpr std::string_view kPlace[] = {"storage-first-gpu"};
  if (!flags.has("load-weights")) {
    return Refuse(flags, kPlace, "there is no --load-weights");
  }
  ASTRA_ASSIGN_OR_RETURN(options.load_weights,
                         FindWeightSource(*flags.value("load-weights")));
  if (*options.load_weights == WeightSource::kReplica) {
    return Refuse(flags, kPlace, "--load-weights replica has no storage");
  }
  ASTRA_ASSIGN_OR_RETURN(options.storage_first_gpu,
                         ReadGpu(flags, "storage-first-gpu"));
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(WeightSource source) {
  return kWeightSources[static_cast<size_t>(source)];
}

absl::StatusOr<FabricOptions> ReadFabricOptions(const CommandLine& flags) {
  FabricOptions options;
  if (flags.has("fidelity")) {
    ASTRA_ASSIGN_OR_RETURN(options.fidelity,
                           FindFidelity(*flags.value("fidelity")));
  }
  ASTRA_RETURN_IF_ERROR(CheckEffects(flags, options.fidelity));
  options.network_file = flags.value("network");
  options.beside = flags.value("beside");
  ASTRA_ASSIGN_OR_RETURN(options.beside_first_gpu,
                         ReadGpu(flags, "beside-first-gpu"));
  ASTRA_RETURN_IF_ERROR(ReadWeights(flags, options));
  return options;
}

}  // namespace astra
