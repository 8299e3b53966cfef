// How algorithms cut buffers, and how many channels they use.

#ifndef COLLECTIVES_ALGORITHMS_CHUNKS_H_
#define COLLECTIVES_ALGORITHMS_CHUNKS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"

namespace astra {

// Piece i of n of `range`; sizes differ by at most one byte, the first pieces
// are the larger ones.
ByteRange Piece(ByteRange range, uint32_t i, uint32_t n);

// How many pieces of at most `max_piece` make up `bytes`; 1 where `max_piece`
// is 0, which means no limit.
uint64_t NumPieces(Bytes bytes, Bytes max_piece);

// The channels asked for, or else 1 on one server and, on several, one for each
// rank of the smallest server: it has the fewest NICs, through which everything
// must pass.
uint32_t NumChannels(const CollectiveRequest& request);

// The same for algorithms by NVSwitches: by default `least` for each NVSwitch
// of a server, which take turns.
uint32_t NumNvlsChannels(const CollectiveRequest& request, uint32_t least);

// Whether the sizes of an all-to-all's parts were given pair by pair.
bool IsAllToAllV(const CollectiveRequest& request);

// What a graph holds, or each of the equal pieces that it consists of.
struct GraphSize {
  uint64_t num_flows = 0;
  uint64_t num_chunks = 0;
};

// Errors: ResourceExhausted if `num_pieces` of such a size have more flows than
// `max_flows`, or more chunks than there are ids. `name` is the algorithm's.
absl::Status CheckSize(std::string_view name, const CollectiveRequest& request,
                       const GraphSize& piece, uint64_t num_pieces,
                       uint64_t max_flows);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_CHUNKS_H_
