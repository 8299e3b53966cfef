// The pairs of trees over servers that "tree" and "nvls_tree" send along.
//
// In the first tree, node r > 0 with lowest set bit b has the children r - b/2
// and r + b/2 (where that is no node, r + b/4, and so on), so that every odd
// node is a leaf; node 0 is the root and its only child is the largest power of
// two below n. The second is the first mirrored, node r in the place of n - 1 -
// r, where n is even; where it is odd, it is shifted: node r + 1 in the place
// of r. Either swaps odd and even, so that a node which has children in one
// tree has none in the other, except for a root where n is odd. Each node thus
// sends and receives about as much as any other, and both trees together use
// the full bandwidth in both directions. A tree has about log2 n levels.
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
  std::vector<std::optional<uint32_t>> parent;  // By server; none: the root.
  std::vector<uint32_t> order;                  // Parents before children.
};

// Tree 0 or 1 over `num_servers`, at least 1.
ServerTree MakeServerTree(uint32_t num_servers, uint32_t tree);

// Which of the two trees `channel` of `num_channels` uses: the first half of
// the channels tree 0, the others tree 1.
uint32_t TreeOf(uint32_t channel, uint32_t num_channels);

// The ranks of `server` in a row that begins with its rank on the rail of rank
// `index` (modulo their number) of the first server, or else with its own rank
// `index`. So those that begin the rows of all servers are on one rail, where
// the group has ranks there.
std::vector<GroupRank> ServerChain(const GroupLayout& layout, uint32_t server,
                                   uint32_t index);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_SERVER_TREE_H_
