// Which switches of a fabric add up what the ranks of a group send (SHARP).
//
//   leaf of a rank  the switch its NIC is linked to. A switch with GPUs of one
//                   server only that leads on to a higher tier has nothing to
//                   add up: it stands for a NIC, and what is above it counts.
//   root            the nearest switch, from the first leaf upwards, below
//                   which all leaves are; of several, the lowest
//   tree            the shortest ways down from the root to the leaves; where
//                   a switch has several switches above it, by the lowest
//
// Up is to a tier as high or higher (see Topology::tier), down the other way.
//
// What it leaves out: one tree carries all that a group adds up. Where the
// members of a server have one leaf, or their leaves join below the root, the
// link above carries all of their shares; SHARP may spread them over several
// trees.
//
// Source: R. L. Graham et al., "Scalable Hierarchical Aggregation Protocol
// (SHARP)", COMHPC 2016, for trees laid over the switches of a fabric; which of
// the possible trees is taken is ours.

#ifndef COLLECTIVES_REDUCTION_TREE_H_
#define COLLECTIVES_REDUCTION_TREE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "collectives/group_layout.h"
#include "collectives/registry.h"
#include "topology/topology.h"

namespace astra {

// What GroupLayout::SetReducers takes, and where it is. The further from the
// root, the earlier; the root is last. At the same distance by id.
struct ReductionTree {
  std::vector<GroupLayout::Reducer> reducers;
  std::vector<uint32_t> leaf_of;  // By group rank: the position of its leaf.
  std::vector<NodeId> nodes;      // By reducer.
};

// The tree of the group of `ranks`, which are one or more, in group order.
//
// Errors: FailedPrecondition if a GPU is linked to no switch of the fabric, or
// no switch is above all leaves.
absl::StatusOr<ReductionTree> FindReductionTree(absl::Span<const RankId> ranks,
                                                const Topology& topology);

// A group on a topology.
struct PlacedGroup {
  GroupLayout layout;
  std::vector<NodeId> nodes;  // By member of the layout.
};

// How the group of `ranks`, in group order, lies on `topology`, with the tree
// that `algorithm` needs, if it does.
//
// Errors: those of FindReductionTree.
absl::StatusOr<PlacedGroup> PlaceGroup(const CollectiveAlgorithm& algorithm,
                                       absl::Span<const RankId> ranks,
                                       const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_REDUCTION_TREE_H_
