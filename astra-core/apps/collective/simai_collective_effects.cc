#include "astra-core/apps/collective/simai_collective_effects.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/nccl/tuning.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Concerns = std::function<bool(CollectiveKind)>;

// An option or a variable of NCCL, and the collectives on which it has an
// effect.
struct Setting {
  std::string_view name;
  bool is_given = false;
  std::string_view why;  // Sentence that the names of these collectives end.
  Concerns concerns;
};

Concerns UsersOf(NcclAlgorithm algorithm) {
  return [algorithm](CollectiveKind kind) {
    return IsAlgorithmOf(algorithm, kind);
  };
}

// Returns the setting of NCCL_ALGO or NCCL_PROTO, whose choices are in `field`.
// It concerns the collectives whose choices it restricts.
Setting ChoiceSetting(std::string_view name, const NcclOptions& nccl,
                      uint32_t NcclChoices::*field) {
  const Concerns is_restricted = [&nccl, field](CollectiveKind kind) {
    return nccl.choices_of(kind).*field != NcclChoices{}.*field;
  };
  const bool is_given = std::any_of(std::begin(kCollectiveKinds),
                                    std::end(kCollectiveKinds), is_restricted);
  return {name, is_given, "it is for", is_restricted};
}

std::vector<Setting> SettingsOf(const NcclOptions& nccl) {
  const Concerns is_all_reduce = [](CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce;
  };
  const Concerns is_chosen = [](CollectiveKind kind) {
    return !IsSendsAndReceives(kind);
  };
  return {
      {"--dispatcher", nccl.dispatch.has_value(), "a dispatcher is for",
       IsOfExperts},
      {"--engine", nccl.engine.has_value(), "the kernels of an engine are for",
       is_all_reduce},
      {"--symmetric", nccl.symmetric, "kernels for symmetric buffers are for",
       HasSymmetricKernels},
      ChoiceSetting("NCCL_ALGO", nccl, &NcclChoices::algorithms),
      ChoiceSetting("NCCL_PROTO", nccl, &NcclChoices::protocols),
      {"NCCL_COLLNET_ENABLE=1", nccl.collnet, "CollNet is for",
       UsersOf(NcclAlgorithm::kCollnetDirect)},
      {"NCCL_MIN_NCHANNELS", nccl.min_channels > 0,
       "NCCL searches channels for", is_chosen},
      {"NCCL_NVLS_ENABLE=0", !nccl.nvls, "NVLS is for",
       UsersOf(NcclAlgorithm::kNvls)},
      {"NCCL_PAT_ENABLE=0", !nccl.pat, "PAT is for",
       UsersOf(NcclAlgorithm::kPat)},
      {"NCCL_PXN_DISABLE=1", !nccl.pxn, "PXN is for", IsAllToAll},
  };
}

// Returns "all_gather", "all_gather and reduce_scatter", or a longer list.
std::string Listed(const Concerns& concerns) {
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (concerns(kind)) names.push_back(NcclTestsName(kind));
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 < names.size() ? ", " : " and ";
    text += names[i];
  }
  return text;
}

}  // namespace

absl::Status CheckEffects(CollectiveKind kind, const NcclOptions& nccl) {
  for (const Setting& setting : SettingsOf(nccl)) {
    if (!setting.is_given || setting.concerns(kind)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "{} has no effect on {}: {} {}", setting.name, NcclTestsName(kind),
        setting.why, Listed(setting.concerns)));
  }
  return absl::OkStatus();
}

absl::Status CheckGiven(CollectiveKind kind, NcclSettings settings) {
  settings.file.reset();
  ASTRA_ASSIGN_OR_RETURN(const NcclOptions nccl, ApplyNcclSettings(settings));
  return CheckEffects(kind, nccl);
}

absl::Status CheckEngine(const NcclOptions& nccl,
                         const CollectiveEstimator& cluster) {
  const size_t num_servers = NumServers(cluster);
  if (!nccl.engine || num_servers == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--engine has no effect on a group over {} servers: its "
                  "kernels are for one",
                  num_servers));
}

}  // namespace astra
