// What an iteration would take if one half of the cluster cost no time.

#ifndef ASTRA_CORE_ENGINE_BOUNDS_H_
#define ASTRA_CORE_ENGINE_BOUNDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/simulation.h"
#include "topology/routes.h"
#include "workload/program.h"

namespace astra {

struct Bounds {
  TimePs ideal_network;  // Collectives and messages take no time.
  TimePs ideal_compute;  // Computations take no time.
};

// Runs both in closed form, whatever lowering `options` names, with its costs
// of collectives. Nothing travels on the networks that `new_network` makes.
//
// Errors: those of Simulate().
absl::StatusOr<Bounds> BoundsOf(const Program& program,
                                const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network);

// As lines of text, beside an iteration that takes `total`.
std::string DescribeBounds(const Bounds& bounds, TimePs total);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_BOUNDS_H_
