// Answers of decision trees that were fitted elsewhere.
//
//   TreeEnsemble trees = *TreeEnsemble::Create(start, nodes, num_features);
//   double answer = trees.Predict(features);
//
// A tree asks of one feature at a time whether it lies below a threshold, until
// it comes to a leaf. The answer is `start` plus the leaves of all trees,
// summed in 32-bit floats and in order, as XGBoost does, so that the answers
// are the same as those of the program that fitted the trees.

#ifndef WORKLOAD_OPERATORS_TREE_ENSEMBLE_H_
#define WORKLOAD_OPERATORS_TREE_ENSEMBLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

struct TreeNode {
  static constexpr int32_t kLeaf = -1;

  int32_t feature = kLeaf;  // Index of the feature that is compared, or kLeaf.
  float value = 0;          // Threshold, or the answer of a leaf.
  // Positions in the tree of where features below the threshold lead, and
  // others. Both are greater than the position of this node.
  int32_t below = 0;
  int32_t other = 0;

  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};
static_assert(sizeof(TreeNode) == 16);

using Tree = std::vector<TreeNode>;  // The root comes first.

class TreeEnsemble {
 public:
  // Errors: InvalidArgument for a tree without nodes, for a feature that does
  // not exist, for a node that leads back or out of its tree, and for a number
  // that is not finite.
  static absl::StatusOr<TreeEnsemble> Create(float start,
                                             std::vector<Tree> trees,
                                             size_t num_features);

  // Requires num_features features.
  double Predict(absl::Span<const double> features) const;

  float start() const { return start_; }
  const std::vector<Tree>& trees() const { return trees_; }

  friend bool operator==(const TreeEnsemble&, const TreeEnsemble&) = default;

 private:
  TreeEnsemble(float start, std::vector<Tree> trees)
      : start_(start), trees_(std::move(trees)) {}

  float start_ = 0;
  std::vector<Tree> trees_;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_TREE_ENSEMBLE_H_
