// What a collective starts from and has to end with, chunk by chunk.

#ifndef COLLECTIVES_SCHEDULES_DEMAND_H_
#define COLLECTIVES_SCHEDULES_DEMAND_H_

#include <cstdint>

#include "astra-core/base/collective_kind.h"

namespace astra {

// The chunks of the buffer of a collective (see FlowGraph) that is cut into
// equally many for each of its parts.
struct ChunkedCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t num_ranks = 0;
  uint32_t num_chunks = 0;
  uint32_t root = 0;  // Of a broadcast, reduce, gather or scatter.

  // Whether a rank ends with sums over all ranks, rather than with copies.
  bool reduces() const;

  // Whether `root` means something.
  bool is_rooted() const;

  // How many parts the buffer has, of which `num_chunks` is a multiple: one for
  // each pair of ranks, for each rank, or one.
  uint32_t num_parts() const;

  // The rank that a chunk which is not reduced comes from.
  uint32_t origin(uint32_t chunk) const;

  // Whether `rank` has something of `chunk` at the start: its contribution.
  bool Has(uint32_t rank, uint32_t chunk) const;

  // Whether `rank` must end with `chunk`, reduced over all ranks or as its
  // origin had it.
  bool Wants(uint32_t rank, uint32_t chunk) const;
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_DEMAND_H_
