// Chooses the switches of a fabric that add up what the ranks of a group send
// (SHARP).
//
// clang-format off
//   leaf of a rank  the switch to which its NIC is linked. A switch with GPUs of
//                   only one server that leads on to a higher tier has nothing
//                   to add up: it stands for a NIC, and the switch above it is
//                   the leaf.
//   root            the nearest switch, from the first leaf upwards, below
//                   which all leaves are; of several, the lowest
//   tree            the shortest paths down from the root to the leaves; where
//                   a switch has several switches above it, by the lowest
// clang-format on
//
// A link goes up if it leads to a tier as high or higher (see Topology::tier),
// and down otherwise.
//
// Left out: SHARP may use several trees, but here one tree carries all that a
// group adds up. Where the members of a server have one leaf, or their leaves
// join below the root, the link above carries all of their shares.
//
// Source: R. L. Graham et al., "Scalable Hierarchical Aggregation Protocol
// (SHARP)", COMHPC 2016, for trees laid over the switches of a fabric. Which of
// the possible trees is taken is our choice.

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

// The arguments of GroupLayout::SetReducers, and the nodes of the reducers.
// Reducers further from the root come first, and reducers at the same distance
// are ordered by id; the root is last.
struct ReductionTree {
  std::vector<GroupLayout::Reducer> reducers;
  std::vector<uint32_t> leaf_of;  // Index of the leaf of each group rank.
  std::vector<NodeId> nodes;      // Node of each reducer.
};

// Returns the tree of the group of one or more `ranks`, in group order.
//
// Errors: FailedPrecondition if a GPU is linked to no switch of the fabric, or
// no switch is above all leaves.
absl::StatusOr<ReductionTree> FindReductionTree(absl::Span<const RankId> ranks,
                                                const Topology& topology);

// A group on a topology.
struct PlacedGroup {
  GroupLayout layout;
  std::vector<NodeId> nodes;  // Nodes by member of the layout.
};

// Returns the layout and nodes of the group of `ranks`, in group order, on
// `topology`, with a reduction tree if `algorithm` needs one.
//
// Errors: those of FindReductionTree.
absl::StatusOr<PlacedGroup> PlaceGroup(const CollectiveAlgorithm& algorithm,
                                       absl::Span<const RankId> ranks,
                                       const Topology& topology);

}  // namespace astra

#endif  // COLLECTIVES_REDUCTION_TREE_H_
