// How the ranks of a group lie on servers.

#ifndef COLLECTIVES_GROUP_SHAPE_H_
#define COLLECTIVES_GROUP_SHAPE_H_

#include <compare>
#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/topology.h"

namespace astra {

// Group ranks 0 .. ranks_per_server - 1 are on one server, the next as many on
// another, and so on. A group that does not lie so evenly counts as one rank
// per server: then nothing is assumed of who is near whom.
struct GroupShape {
  uint32_t num_ranks = 1;
  uint32_t ranks_per_server = 1;  // Divides num_ranks.

  uint32_t num_servers() const { return num_ranks / ranks_per_server; }

  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

// The shape of the group of `ranks`, in group order, on `topology`.
GroupShape ShapeOf(absl::Span<const RankId> ranks, const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_GROUP_SHAPE_H_
