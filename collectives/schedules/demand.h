// Tells what a collective starts from and must end with, chunk by chunk.

#ifndef COLLECTIVES_SCHEDULES_DEMAND_H_
#define COLLECTIVES_SCHEDULES_DEMAND_H_

#include <cstdint>

#include "astra-core/base/collective_kind.h"

namespace astra {

// The chunks of the buffer of a collective (see FlowGraph). Each part of the
// buffer is cut into equally many.
struct ChunkedCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t num_ranks = 0;
  uint32_t num_chunks = 0;
  uint32_t root = 0;  // Root of a broadcast, reduce, gather or scatter.

  // Returns whether a rank ends with sums over all ranks rather than copies.
  bool reduces() const;

  // Returns whether the kind uses `root`.
  bool is_rooted() const;

  // Returns the number of parts of the buffer: one for each pair of ranks, one
  // for each rank, or one. `num_chunks` is a multiple of it.
  uint32_t num_parts() const;

  // Returns the rank from which a chunk comes that is not reduced.
  uint32_t origin(uint32_t chunk) const;

  // Returns whether `rank` has a contribution to `chunk` at the start.
  bool Has(uint32_t rank, uint32_t chunk) const;

  // Returns whether `rank` must end with `chunk`, reduced over all ranks or as
  // its origin had it.
  bool Wants(uint32_t rank, uint32_t chunk) const;
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_DEMAND_H_
