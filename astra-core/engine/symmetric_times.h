// The times of collectives on a network, where one rank stands for all that do
// the same.
//
// All groups of a dimension and stage that are placed alike run a collective at
// once, so one simulation of its messages gives the time of every such
// collective. Where the closed form says that these groups do not slow one
// another, one group is simulated, otherwise all groups of the stage.
//
// Collectives of different dimensions, or of different sizes, do not meet here;
// link_sharing.h says how far they slow one another down.

#ifndef ASTRA_CORE_ENGINE_SYMMETRIC_TIMES_H_
#define ASTRA_CORE_ENGINE_SYMMETRIC_TIMES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/flow_run.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"

namespace astra {

class SymmetricTimes {
 public:
  // All arguments must outlive the object. `new_network` returns a network at
  // time 0.
  SymmetricTimes(
      const ParallelPlan& plan, const PipelineWiring& wiring,
      const CollectiveCosts& costs, const Communicators& communicators,
      CollectiveLowering& lowering, Routes& routes,
      const std::function<std::unique_ptr<NetworkBackend>()>& new_network)
      : plan_(plan),
        wiring_(wiring),
        costs_(costs),
        communicators_(communicators),
        lowering_(lowering),
        routes_(routes),
        new_network_(new_network) {}

  // Returns the time from when the last member of `communicator` joins until
  // the last one has its result.
  //
  // Errors: those of CollectiveLowering, LayOnLinks and RunFlowGraphs.
  absl::StatusOr<TimePs> TimeOf(CommunicatorId communicator,
                                const Communication& what);

 private:
  // Collectives with equal keys take equal times.
  using Key = std::tuple<ParallelDimension, CollectiveKind, Bytes,
                         const GroupLayout*, ClosedForm, uint32_t>;

  Key KeyOf(const Communicator& group, const Communication& what) const;
  absl::StatusOr<TimePs> Simulate(CommunicatorId id, const Communication& what);
  absl::StatusOr<bool> IsAlone(const Communicator& group,
                               const Communication& what);
  std::vector<Communicator> AllLike(const Communicator& group) const;

  const ParallelPlan& plan_;
  const PipelineWiring& wiring_;
  const CollectiveCosts& costs_;
  const Communicators& communicators_;
  CollectiveLowering& lowering_;
  Routes& routes_;
  const std::function<std::unique_ptr<NetworkBackend>()>& new_network_;
  std::map<Key, TimePs> known_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SYMMETRIC_TIMES_H_
