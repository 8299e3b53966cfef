// Which rounds of a graph consist of the same flows.

#ifndef ASTRA_CORE_ENGINE_ALIKE_ROUNDS_H_
#define ASTRA_CORE_ENGINE_ALIKE_ROUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "collectives/flow_graph.h"

namespace astra {

// Rounds [begin, end), whose flows have the same marks.
struct AlikeRounds {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The rounds of a graph that have so many flows each.
struct Rounds {
  uint64_t num_flows = 0;
  std::vector<AlikeRounds> alike;  // In order; of two rounds or more.
};

// Returns the rounds of a graph, from the longest to the shortest. `marks` has
// a number for each flow, equal for flows that are alike. If messages are of a
// few packets there are no rounds: it costs more to compare them than to
// simulate them.
std::vector<Rounds> AlikeRoundsOf(absl::Span<const uint64_t> marks,
                                  const FlowGraph& graph);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ALIKE_ROUNDS_H_
