// The groups over which a workload communicates, and what that costs them.

#ifndef ASTRA_CORE_ENGINE_COMMUNICATORS_H_
#define ASTRA_CORE_ENGINE_COMMUNICATORS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/rank_classes.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/closed_form.h"
#include "collectives/group_shape.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"
#include "workload/workload.h"

namespace astra {

// One kind of collective over all the groups of one dimension.
struct CollectiveCost {
  ClosedForms forms;         // By group.
  bool is_measured = false;  // The user's bus bandwidth decides the time.
};

using CostKey = std::pair<ParallelDimension, CollectiveKind>;
using CollectiveCosts = std::map<CostKey, CollectiveCost>;

// The collectives that move bytes between two ranks or more, pipeline messages
// among them.
std::set<CostKey> UsedCollectives(const Workload& workload,
                                  const ParallelPlan& plan);
std::set<CostKey> UsedCollectives(const Program& program,
                                  const ParallelPlan& plan);

// The costs of the used collectives, without pipeline messages.
//
// Errors: those of LayOnLinks.
absl::StatusOr<CollectiveCosts> FindCosts(const std::set<CostKey>& used,
                                          const ParallelPlan& plan,
                                          const BusBandwidths& measured,
                                          Routes& routes);

using CommunicatorId = Id<struct CommunicatorTag>;

// One group, which stands for all groups of its class.
struct Communicator {
  ParallelDimension dimension;
  uint32_t group = 0;             // Of the plan; the lowest of the class.
  uint32_t num_groups = 1;        // Groups in the class.
  std::vector<RankId> ranks;      // Of `group`, in group order.
  std::vector<uint32_t> members;  // Classes of those ranks; each once, sorted.
  GroupShape shape;
};

struct Communicators {
  RankClasses classes;
  std::vector<Communicator> list;
  // By class and dimension: the communicator of its ranks, if there is one.
  std::vector<std::array<std::optional<CommunicatorId>, kNumParallelDimensions>>
      of_class;
};

// Forms the classes of ranks and groups: the coarsest possible, or each rank
// alone if `each_rank`.
Communicators FormCommunicators(const ParallelPlan& plan,
                                const CollectiveCosts& costs, bool each_rank,
                                const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COMMUNICATORS_H_
