// Plans what one rank does in a physical run: the collectives in which it takes
// part, and the connections that their messages need.

#ifndef ASTRA_CORE_PHYSICAL_RANK_PLAN_H_
#define ASTRA_CORE_PHYSICAL_RANK_PLAN_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/simulation_setting.h"
#include "workload/phase.h"

namespace astra {

// Names a connection, which carries messages from one rank to another. Messages
// of one key are sent one after the other, as over one queue pair of a
// simulated network. `channel` tells the connections of a pair of ranks apart.
struct ConnectionKey {
  RankId source;
  RankId target;
  uint32_t channel = 0;

  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

// Returns the claim of a handshake for a connection of a run, which the
// coordinator has named `session`.
std::string ClaimOf(std::string_view session, const ConnectionKey& key);

// Returns the key of which ClaimOf() made `claim`.
//
// Errors: InvalidArgument if `claim` is no claim; PermissionDenied if it is of
// another session.
absl::StatusOr<ConnectionKey> ParseClaim(std::string_view session,
                                         std::string_view claim);

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

  RankId rank() const { return rank_; }

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

  // The connections of this rank, each once, in increasing order.
  const std::vector<ConnectionKey>& outgoing() const { return outgoing_; }
  const std::vector<ConnectionKey>& incoming() const { return incoming_; }

 private:
  using CollectiveKey =
      std::tuple<uint32_t, CollectiveKind, ParallelDimension, Bytes>;

  RankPlan(const SimulationSetting& setting, RankId rank);
  absl::Status Add(const SimulationSetting& setting,
                   CommunicatorId communicator, const Communication& what);
  void AddConnections(CommunicatorId communicator,
                      const PlannedCollective& planned);

  RankId rank_;
  Communicators communicators_;
  std::map<CollectiveKey, PlannedCollective> collectives_;
  std::vector<ConnectionKey> outgoing_;
  std::vector<ConnectionKey> incoming_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RANK_PLAN_H_
