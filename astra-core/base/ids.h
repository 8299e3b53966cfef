// Strong types for indices. An id is the position of a thing in the array that
// owns it, counted from 0, so that ids are dense and can index vectors.

#ifndef ASTRA_CORE_BASE_IDS_H_
#define ASTRA_CORE_BASE_IDS_H_

#include <compare>
#include <cstdint>

#include "fmt/format.h"

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

using NodeId = Id<struct NodeTag>;      // A GPU or switch of a topology.
using LinkId = Id<struct LinkTag>;      // One direction of a cable.
using RankId = Id<struct RankTag>;      // A GPU of the whole job.
using GroupRank = Id<struct GroupTag>;  // A member's position in its group.
using ChunkId = Id<struct ChunkTag>;    // A piece of a collective's buffer.
using FlowId = Id<struct FlowTag, uint64_t>;  // A message of a FlowGraph.
using MessageId = Id<struct MessageTag>;      // A message in a network.

}  // namespace astra

template <class Tag, class Index>
struct fmt::formatter<astra::Id<Tag, Index>> : fmt::formatter<Index> {
  template <class Context>
  auto format(astra::Id<Tag, Index> id, Context& context) const {
    return fmt::formatter<Index>::format(id.index(), context);
  }
};

#endif  // ASTRA_CORE_BASE_IDS_H_
