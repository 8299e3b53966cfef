// Where collectives take place: their connections, links and switches, and
// which of them lie alike.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_REGIONS_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_REGIONS_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/message_facts.h"
#include "network-frontends/replay_support.h"
#include "workload/phase.h"

namespace astra {

// Tells where a collective of a communicator takes place, or where several do
// that meet on links.
struct CollectiveRegion {
  // The first five, and `most_at_switch`, are those of a single collective.
  CommunicatorId communicator;
  Communication what{};
  TimePs closed_form;           // How long it takes alone, as a formula.
  CollectiveMessages messages;  // Without a graph.
  const MessageFacts* facts = nullptr;
  // In the order of their first flows, one collective after the other.
  std::vector<Connection> connections;
  std::vector<LinkId> links;            // Sorted.
  std::vector<LinkId> first_links;      // Of connections, sorted.
  std::vector<NodeId> switches;         // Sorted.
  std::vector<int64_t> most_at_switch;  // Bytes that it may hold there.
  // No rank has its result sooner after the first start.
  TimePs least_time;
  // No rank has its result before all have started.
  bool needs_all = false;
  // Flows can leave with the start of a single rank, since switches take part.
  bool may_begin_alone = false;
  // Its ranks can change places: their messages and links are alike.
  bool has_alike_ranks = false;
  uint32_t shape = 0;  // Equal for collectives with equal messages and links.
};

class CollectiveRegions {
 public:
  // All must outlive the object.
  CollectiveRegions(const Communicators& communicators,
                    const CollectiveCosts& costs, CollectiveLowering& lowering)
      : communicators_(communicators), costs_(costs), lowering_(lowering) {}

  // Below, `network` is one of several that are alike.

  // Returns where the collective takes place. Errors: those of
  // CollectiveLowering.
  absl::StatusOr<const CollectiveRegion*> RegionOf(CommunicatorId communicator,
                                                   const Communication& what,
                                                   ReplaySupport& network);

  // Returns where collectives take place together.
  const CollectiveRegion& JointRegionOf(
      const std::vector<const CollectiveRegion*>& regions,
      ReplaySupport& network);

 private:
  // Messages with equal keys are equal; others may be, too.
  using MessagesKey =
      std::tuple<CollectiveKind, Bytes, const GroupLayout*, std::string_view,
                 Chunking, const CustomCollective*, uint32_t>;

  absl::StatusOr<CollectiveRegion> MakeRegion(CommunicatorId communicator,
                                              const Communication& what,
                                              ReplaySupport& network);
  absl::StatusOr<const MessageFacts*> FactsOf(
      const CollectiveMessages& messages, const Communication& what);
  uint32_t NumberOf(const MessageCosts& costs);
  uint32_t NumberOfShape(std::vector<int64_t> shape);

  const Communicators& communicators_;
  const CollectiveCosts& costs_;
  CollectiveLowering& lowering_;
  std::map<std::tuple<uint32_t, ParallelDimension, CollectiveKind, Bytes>,
           CollectiveRegion>
      regions_;
  std::map<std::vector<const CollectiveRegion*>, CollectiveRegion> joint_;
  std::map<MessagesKey, MessageFacts> facts_;
  std::vector<MessageCosts> known_costs_;
  std::map<std::vector<int64_t>, uint32_t> shapes_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_REGIONS_H_
