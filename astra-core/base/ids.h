// Strong types for indices. An id is the position of a thing in the array that
// owns it, counted from 0, so that ids are dense and can index vectors.

#ifndef ASTRA_CORE_BASE_IDS_H_
#define ASTRA_CORE_BASE_IDS_H_

#include <compare>
#include <cstdint>

#include "fmt/format.h"

namespace astra {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}

  constexpr uint32_t index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  uint32_t index_ = 0;
};

using NodeId = Id<struct NodeTag>;        // A GPU or switch of a topology.
using LinkId = Id<struct LinkTag>;        // One direction of a cable.
using RankId = Id<struct RankTag>;        // A GPU of the whole job.
using GroupRank = Id<struct GroupTag>;    // A GPU's position in its group.
using ChunkId = Id<struct ChunkTag>;      // A piece of a collective's buffer.
using FlowId = Id<struct FlowTag>;        // A message of a FlowGraph.
using MessageId = Id<struct MessageTag>;  // A message in a network.

}  // namespace astra

template <class Tag>
struct fmt::formatter<astra::Id<Tag>> : fmt::formatter<uint32_t> {
  template <class Context>
  auto format(astra::Id<Tag> id, Context& context) const {
    return fmt::formatter<uint32_t>::format(id.index(), context);
  }
};

#endif  // ASTRA_CORE_BASE_IDS_H_
