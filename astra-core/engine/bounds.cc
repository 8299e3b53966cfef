#include "astra-core/engine/bounds.h"

#include <string_view>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string Line(std::string_view what, TimePs bound, TimePs total) {
  const double less = total == TimePs(0)
                          ? 0
                          : 100 - 100 * static_cast<double>(bound.count()) /
                                      static_cast<double>(total.count());
  return fmt::format("  {:<22}{:>15.6f} ms  {:6.2f} % {}\n", what,
                     ToMicroseconds(bound) * 1e-3, less < 0 ? -less : less,
                     less < 0 ? "more" : "less");
}

}  // namespace

SimulationOptions BoundOptions(const SimulationOptions& options) {
  SimulationOptions ideal;
  ideal.overlap = options.overlap;
  ideal.bus_bandwidths = options.bus_bandwidths;
  ideal.collectives = options.collectives;
  ideal.nccl = options.nccl;
  ideal.simai = options.simai;
  ideal.costs = options.costs;
  ideal.communication_slowdown = options.communication_slowdown;
  ideal.jitter = options.jitter;
  ideal.seed = options.seed;
  return ideal;
}

absl::StatusOr<Bounds> BoundsOf(const Program& program,
                                const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network) {
  constexpr Ideal kIdeals[] = {Ideal::kNetwork, Ideal::kCompute};
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<TimePs> times,
      IdealTimes(program, BoundOptions(options), kIdeals, routes, new_network));
  return Bounds{.ideal_network = times[0], .ideal_compute = times[1]};
}

std::string DescribeBounds(const Bounds& bounds, TimePs total) {
  return Line("with an ideal network", bounds.ideal_network, total) +
         Line("communication alone", bounds.ideal_compute, total);
}

}  // namespace astra
