// What the links of a topology say of a group: the propagation beyond what
// NCCL's constants contain.

#ifndef COLLECTIVES_NCCL_PROPAGATION_H_
#define COLLECTIVES_NCCL_PROPAGATION_H_

#include <compare>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "collectives/nccl/tuning.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"

namespace astra {

// For a hop to the next server, as rings take it, and to a far one, as all
// others may.
struct Propagation {
  HopExtra to_next;
  HopExtra to_far;
  bool has_one_path = true;  // Messages between servers have no choice.

  friend auto operator<=>(const Propagation&, const Propagation&) = default;
};

// Looks at three routes: from the first rank to another one of its server, to
// the next server, and to the last rank, which often is the farthest.
//
// Errors: those of Routes::Find.
absl::StatusOr<Propagation> PropagationOf(const std::vector<RankId>& group,
                                          const SystemSpec& system,
                                          Routes& routes);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_PROPAGATION_H_
