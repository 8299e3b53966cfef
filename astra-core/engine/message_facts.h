// What there is to know about the messages of a collective, wherever its group
// lies.

#ifndef ASTRA_CORE_ENGINE_MESSAGE_FACTS_H_
#define ASTRA_CORE_ENGINE_MESSAGE_FACTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "astra-core/base/collective_kind.h"
#include "astra-core/engine/alike_rounds.h"
#include "astra-core/engine/message_costs.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"

namespace astra {

// The messages of a graph between two members on one channel, which share a
// connection.
struct GraphConnection {
  GroupRank source;
  GroupRank target;
  uint16_t channel = 0;
  Bytes bytes;  // On the wire, of all messages.
};

struct MessageFacts {
  // Hash of all messages, their costs and dependencies.
  std::array<uint64_t, 2> hash{};
  std::vector<GraphConnection> connections;  // By their first flows.
  // No rank has its result before all have started.
  bool needs_all = false;
  bool has_switches = false;
  // Each rank exchanges the same messages with switches, and none with another
  // rank. Ranks can then change places, up to whose turn it is.
  bool has_alike_ranks = false;
  std::vector<Rounds> rounds;
};

// `graph` is that of a collective of `kind`. `layout` is the layout of its
// group, needed if costs within and between servers differ.
MessageFacts FactsOf(const FlowGraph& graph, CollectiveKind kind,
                     const MessageCosts& costs, const GroupLayout* layout);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_MESSAGE_FACTS_H_
