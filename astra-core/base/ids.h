// Strong types for indices. An id is the position of a thing in the array that
// owns it, counted from 0, so that ids are dense and can index vectors.

#ifndef ASTRA_CORE_BASE_IDS_H_
#define ASTRA_CORE_BASE_IDS_H_

#include <compare>
#include <cstdint>

#include "fmt/core.h"

namespace astra {

template <class Tag, class Index = uint32_t>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Index index) : index_(index) {}

  constexpr Index index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Index index_ = 0;
};

using NodeId = Id<struct NodeTag>;      // GPU or switch of a topology.
using LinkId = Id<struct LinkTag>;      // One direction of a cable.
using RankId = Id<struct RankTag>;      // GPU of the whole job.
using GroupRank = Id<struct GroupTag>;  // Position of a member in its group.
using ChunkId = Id<struct ChunkTag>;    // Piece of a collective's buffer.
using FlowId = Id<struct FlowTag, uint64_t>;  // Message of a FlowGraph.
using MessageId = Id<struct MessageTag>;      // Message in a network.

namespace internal {

// Writes an index in decimal. The function is compiled once, so that sources
// that print identifiers do not compile the formatting of integers again.
fmt::format_context::iterator FormatIndex(uint64_t index,
                                          fmt::format_context& context);

}  // namespace internal
}  // namespace astra

template <class Tag, class Index>
struct fmt::formatter<astra::Id<Tag, Index>> {
  constexpr auto parse(format_parse_context& context) {
    return context.begin();
  }
  auto format(astra::Id<Tag, Index> id, format_context& context) const {
    return astra::internal::FormatIndex(id.index(), context);
  }
};

#endif  // ASTRA_CORE_BASE_IDS_H_
