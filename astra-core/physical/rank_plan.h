// Plans what one rank does in a physical run: the collectives in which it takes
// part, and the connections that their messages need.

#ifndef ASTRA_CORE_PHYSICAL_RANK_PLAN_H_
#define ASTRA_CORE_PHYSICAL_RANK_PLAN_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/physical/connection_plan.h"
#include "workload/phase.h"

namespace astra {

// The messages of all collectives of a communicator that are alike.
struct PlannedCollective {
  CollectiveMessages messages;  // Always has a graph.
  GroupRank member;             // Place of the planned rank in the graph.
};

class RankPlan {
 public:
  // Plans what `rank` does with `program`. `setting`, whose collectives are
  // messages and in which each rank is a class of its own, must outlive the
  // plan.
  //
  // Errors: those of CollectiveLowering; Unimplemented for a collective in
  // which switches take part, which no host can do for them.
  static absl::StatusOr<RankPlan> Create(const SimulationSetting& setting,
                                         const RankProgram& program,
                                         RankId rank);

  RankId rank() const { return connections_.rank; }

  // Returns the communicators of the run as the engine of this rank needs them:
  // the rank is the only class, and is member 0 of its communicators.
  const Communicators& communicators() const { return communicators_; }

  // Returns the plan of a collective; null if the program does not have it.
  const PlannedCollective* Find(CommunicatorId communicator,
                                const Communication& what) const;

  // Returns the connection that carries a flow of a planned collective.
  ConnectionKey KeyOf(CommunicatorId communicator,
                      const CollectiveMessages& messages,
                      const Flow& flow) const;

  // Returns the connections that carry the flows of this rank.
  const ConnectionPlan& connections() const { return connections_; }

 private:
  using CollectiveKey =
      std::tuple<uint32_t, CollectiveKind, ParallelDimension, Bytes>;

  RankPlan(const SimulationSetting& setting, RankId rank);
  absl::Status Add(const SimulationSetting& setting,
                   CommunicatorId communicator, const Communication& what);
  void AddConnections(CommunicatorId communicator,
                      const PlannedCollective& planned);

  ConnectionPlan connections_;
  Communicators communicators_;
  std::map<CollectiveKey, PlannedCollective> collectives_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RANK_PLAN_H_
