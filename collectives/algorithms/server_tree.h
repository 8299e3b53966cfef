// Pairs of trees over servers, along which "tree" and "nvls_tree" send.
//
// In the first tree, node r > 0 with lowest set bit b has the children r - b/2
// and r + b/2 (or r + b/4, and so on, if this is no node), so every odd node is
// a leaf. Node 0 is the root, and its only child is the largest power of two
// below n. If n is even, the second tree is the first one mirrored, with node r
// in the place of n - 1 - r. If n is odd, it is the first one shifted, with
// node r + 1 in the place of r. Either swaps odd and even, so a node that has
// children in one tree has none in the other, except for a root if n is odd.
// Each node thus sends and receives about as much as any other, and both trees
// together use the full bandwidth in both directions. A tree has about log2 n
// levels.
//
// Source: P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full
// bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009, in
// the form in which NCCL draws it (src/graph/trees.cc).

#ifndef COLLECTIVES_ALGORITHMS_SERVER_TREE_H_
#define COLLECTIVES_ALGORITHMS_SERVER_TREE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/ids.h"
#include "collectives/group_layout.h"

namespace astra {

struct ServerTree {
  // Parent of each server; nullopt: the root.
  std::vector<std::optional<uint32_t>> parent;
  std::vector<uint32_t> order;  // Servers, parents before children.
};

// Returns tree 0 or 1 over `num_servers`, at least 1.
ServerTree MakeServerTree(uint32_t num_servers, uint32_t tree);

// Returns the tree that `channel` of `num_channels` uses: tree 0 for the first
// half of the channels, tree 1 for the others.
uint32_t TreeOf(uint32_t channel, uint32_t num_channels);

// Returns the ranks of `server` in a row. The row begins with the server's rank
// on the rail of rank `index` (modulo their number) of the first server or, if
// there is none, with the server's own rank `index`. The first ranks of all
// rows are thus on one rail where the group has ranks there.
std::vector<GroupRank> ServerChain(const GroupLayout& layout, uint32_t server,
                                   uint32_t index);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_SERVER_TREE_H_
