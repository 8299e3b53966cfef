#include "collectives/nccl/propagation.h"

#include <algorithm>
#include <cstdint>

#include "astra-core/base/status_macros.h"

namespace astra {

absl::StatusOr<Propagation> PropagationOf(const std::vector<RankId>& group,
                                          const SystemSpec& system,
                                          Routes& routes) {
  constexpr double kUsPerNs = 1e-3;
  const Topology& topology = routes.topology();
  const RankId first = group.front();
  const uint32_t server = topology.ServerOf(first);
  const double contained_within_us =
      2 * kUsPerNs * system.interconnect.latency_ns;
  const double contained_between_us =
      2 * kUsPerNs * system.transport.fabric_latency_ns;
  Propagation propagation;
  const auto extra = [&](const Route& route, double contained_us) {
    return static_cast<double>(route.latency.count()) / kPsPerUs - contained_us;
  };
  const auto neighbour = std::find_if(
      group.begin() + 1, group.end(),
      [&](RankId rank) { return topology.ServerOf(rank) == server; });
  if (neighbour != group.end()) {
    ASTRA_ASSIGN_OR_RETURN(const Route route, routes.Find(first, *neighbour));
    propagation.to_next.within_us = extra(route, contained_within_us);
    propagation.to_far.within_us = propagation.to_next.within_us;
  }
  const auto next = std::find_if(group.begin(), group.end(), [&](RankId rank) {
    return topology.ServerOf(rank) != server;
  });
  if (next == group.end()) return propagation;
  ASTRA_ASSIGN_OR_RETURN(const Route near, routes.Find(first, *next));
  propagation.to_next.between_us = extra(near, contained_between_us);
  propagation.to_far.between_us = propagation.to_next.between_us;
  propagation.has_one_path = routes.IsOnePath(near);
  if (topology.ServerOf(group.back()) == server) return propagation;
  ASTRA_ASSIGN_OR_RETURN(const Route far, routes.Find(first, group.back()));
  propagation.to_far.between_us = std::max(propagation.to_next.between_us,
                                           extra(far, contained_between_us));
  propagation.has_one_path &= routes.IsOnePath(far);
  return propagation;
}

}  // namespace astra
