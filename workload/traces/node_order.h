// Orders the nodes of a graph.

#ifndef WORKLOAD_TRACES_NODE_ORDER_H_
#define WORKLOAD_TRACES_NODE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace astra {

// Returns the nodes so that each comes behind those that it depends on; of
// those that may come next, always the first by number. Nodes of a circle, and
// those behind it, are left out. `dependencies` has, by node, different nodes.
std::vector<uint32_t> NodeOrder(
    absl::Span<const std::vector<uint32_t>> dependencies);

}  // namespace astra

#endif  // WORKLOAD_TRACES_NODE_ORDER_H_
