// Bounds on the time of an iteration: with an ideal network, and with GPUs that
// compute in no time.

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
  TimePs ideal_network;  // Iteration time if communication took no time.
  TimePs ideal_compute;  // Iteration time if computations took no time.
};

// Returns both bounds, each from a run in closed form, whatever the lowering of
// `options`. Nothing travels on the networks that `new_network` makes.
//
// Errors: those of Simulate().
absl::StatusOr<Bounds> BoundsOf(const Program& program,
                                const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network);

// Returns `options` without what the runs of bounds leave out: they are in
// closed form, and nobody watches them.
SimulationOptions BoundOptions(const SimulationOptions& options);

// Returns the bounds as lines of text, each compared with `total`.
std::string DescribeBounds(const Bounds& bounds, TimePs total);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_BOUNDS_H_
