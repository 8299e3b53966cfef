#include "astra-core/engine/collective_family.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"

namespace astra {
namespace {

bool IsAllowedByName(const NcclOptions& options, CollectiveKind kind,
                     NcclAlgorithm algorithm) {
  return options.choices.count(kind) > 0 &&
         options.choices_of(kind).allows(algorithm);
}

}  // namespace

std::string_view Name(CollectiveFamily family) {
  switch (family) {
    case CollectiveFamily::kNccl:
      return "nccl";
    case CollectiveFamily::kRing:
      return "ring";
    case CollectiveFamily::kSimai:
      return "simai";
  }
  ASTRA_CHECK(false, "family {}", static_cast<int>(family));
}

absl::StatusOr<CollectiveFamily> FindCollectiveFamily(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CollectiveFamily family :
       {CollectiveFamily::kNccl, CollectiveFamily::kRing,
        CollectiveFamily::kSimai}) {
    if (Name(family) == name) return family;
    names.push_back(Name(family));
  }
  return absl::InvalidArgumentError(UnknownName("--collectives", name, names));
}

absl::StatusOr<CollectiveAlgorithm> SimaiAlgorithm(CollectiveKind kind,
                                                   ParallelDimension dimension,
                                                   const GroupLayout& layout,
                                                   const NcclOptions& options) {
  constexpr uint32_t kLeastRanks = 8;
  const NcclChoices choices = options.choices_of(kind);
  if (!choices.allows(NcclAlgorithm::kRing) &&
      !choices.allows(NcclAlgorithm::kNvls)) {
    return absl::UnimplementedError(
        "SimAI has Ring and NVLS, which NCCL_ALGO excludes");
  }
  switch (kind) {
    case CollectiveKind::kAllReduce: {
      const bool is_nvls =
          IsAllowedByName(options, kind, NcclAlgorithm::kNvls) &&
          dimension == ParallelDimension::kTensor &&
          layout.num_ranks() >= kLeastRanks && layout.num_servers() == 1 &&
          layout.nv_switches_per_server() > 0;
      return FindCollectiveAlgorithm(kind,
                                     is_nvls ? "simai_nvls" : "simai_ring");
    }
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return FindCollectiveAlgorithm(kind, "simai_ring");
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return FindCollectiveAlgorithm(kind, "simai_direct");
    case CollectiveKind::kSendRecv:
      return DefaultCollectiveAlgorithm(kind);  // One message.
    default:
      return absl::UnimplementedError(
          "SimAI has only all-reduce, all-gather, reduce-scatter and "
          "all-to-all");
  }
}

}  // namespace astra
