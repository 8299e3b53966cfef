// What one rank does in a physical run: the collectives it takes part in, and
// the connections over which it sends and receives their messages.

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

// One direction between two ranks. Messages of one key are sent one after the
// other over one connection, as those of a queue pair of a simulated network
// are; `channel` is that of the network's messages.
struct ConnectionKey {
  RankId source;
  RankId target;
  uint32_t channel = 0;

  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

// A key with the session it belongs to, as the claim of a handshake.
std::string ClaimOf(std::string_view session, const ConnectionKey& key);

// Errors: InvalidArgument for what ClaimOf() does not make; PermissionDenied
// for a claim of another session.
absl::StatusOr<ConnectionKey> ParseClaim(std::string_view session,
                                         std::string_view claim);

// A collective of a communicator as it runs, whatever its number.
struct PlannedCollective {
  CollectiveMessages messages;  // With a graph.
  GroupRank member;             // The rank's own place in it.
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

  // The communicators of the run, with this rank as the only class that is run:
  // the member 0 of those it belongs to.
  const Communicators& communicators() const { return communicators_; }

  // Returns a collective that the program has; null for another one.
  const PlannedCollective* Find(CommunicatorId communicator,
                                const Communication& what) const;

  // Returns the connection over which a flow of a planned collective goes.
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
