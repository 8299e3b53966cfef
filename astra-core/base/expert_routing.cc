#include "astra-core/base/expert_routing.h"

#include "fmt/core.h"

namespace astra {

std::optional<RoutingMistake> FindMistake(const ExpertRouting& routing) {
  const auto& [experts, top_k, groups, top_groups, _, __] = routing;
  constexpr int64_t kMax = ExpertRouting::kMaxExperts;
  const std::string in_range = fmt::format("expected 1 to {}", kMax);
  if (experts < 1 || experts > kMax) {
    return RoutingMistake{"experts", experts, in_range};
  }
  if (top_k < 1 || top_k > kMax) {
    return RoutingMistake{"top_k", top_k, in_range};
  }
  if (top_k > experts) {
    return RoutingMistake{
        "top_k", top_k,
        fmt::format("expected no more than the {} experts", experts)};
  }
  if (groups < 1 || experts % groups != 0) {
    return RoutingMistake{
        "groups", groups,
        fmt::format("expected a divisor of the {} experts", experts)};
  }
  if (top_groups < 1 || top_groups > groups) {
    return RoutingMistake{"top_groups", top_groups,
                          fmt::format("expected 1 to the {} groups", groups)};
  }
  const int64_t reachable = top_groups * (experts / groups);
  if (top_k <= reachable) return std::nullopt;
  return RoutingMistake{
      "top_k", top_k,
      fmt::format("expected no more than the {} experts of {} of the {} groups",
                  reachable, top_groups, groups)};
}

}  // namespace astra
