// Helpers for algorithms: cutting buffers, and the number of channels.

#ifndef COLLECTIVES_ALGORITHMS_CHUNKS_H_
#define COLLECTIVES_ALGORITHMS_CHUNKS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"

namespace astra {

// Returns piece i of n of `range`. Sizes differ by at most one byte, and the
// first pieces are the larger ones.
ByteRange Piece(ByteRange range, uint32_t i, uint32_t n);

// Returns how many pieces of at most `max_piece` make up `bytes`. A `max_piece`
// of 0 means no limit, hence 1 piece.
uint64_t NumPieces(Bytes bytes, Bytes max_piece);

// Returns the number of channels that the request asks for. By default it is 1
// on one server. On several servers it is one for each rank of the smallest
// server, which has the fewest NICs, through which all data must pass.
uint32_t NumChannels(const CollectiveRequest& request);

// Returns the number of channels of an algorithm that uses NVSwitches. By
// default it is `least` for each NVSwitch of a server; channels use the
// NVSwitches in turn.
uint32_t NumNvlsChannels(const CollectiveRequest& request, uint32_t least);

// Returns whether the sizes of an all-to-all's parts were given pair by pair.
bool IsAllToAllV(const CollectiveRequest& request);

// Size of a graph, or of each of the equal pieces of which it consists.
struct GraphSize {
  uint64_t num_flows = 0;
  uint64_t num_chunks = 0;
};

// Checks the size of a graph of `num_pieces` pieces of size `piece`. `name` is
// the name of the algorithm.
//
// Errors: ResourceExhausted if there are more flows than `max_flows`, or more
// chunks than ids.
absl::Status CheckSize(std::string_view name, const CollectiveRequest& request,
                       const GraphSize& piece, uint64_t num_pieces,
                       uint64_t max_flows);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_CHUNKS_H_
