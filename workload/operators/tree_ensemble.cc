#include "workload/operators/tree_ensemble.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns what is wrong with node `at` of `tree`; empty if nothing is.
std::string WrongWith(const Tree& tree, size_t at, size_t num_features) {
  const TreeNode& node = tree[at];
  if (!std::isfinite(node.value)) return "its number is not finite";
  if (node.feature == TreeNode::kLeaf) return "";
  if (node.feature < 0 || static_cast<size_t>(node.feature) >= num_features) {
    return fmt::format("there is no feature {} among {}", node.feature,
                       num_features);
  }
  for (const int32_t next : {node.below, node.other}) {
    const auto position = static_cast<size_t>(next);
    if (next < 0 || position <= at || position >= tree.size()) {
      return fmt::format(
          "it leads to node {}: expected a later one of the {} nodes", next,
          tree.size());
    }
  }
  return "";
}

absl::Status Check(const Tree& tree, size_t number, size_t num_features) {
  if (tree.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("tree {} has no nodes", number));
  }
  for (size_t at = 0; at < tree.size(); ++at) {
    const std::string wrong = WrongWith(tree, at, num_features);
    if (wrong.empty()) continue;
    return absl::InvalidArgumentError(
        fmt::format("node {} of tree {}: {}", at, number, wrong));
  }
  return absl::OkStatus();
}

float AnswerOf(const Tree& tree, absl::Span<const double> features) {
  size_t at = 0;
  while (tree[at].feature != TreeNode::kLeaf) {
    const TreeNode& node = tree[at];
    const auto value =
        static_cast<float>(features[static_cast<size_t>(node.feature)]);
    at = static_cast<size_t>(value < node.value ? node.below : node.other);
  }
  return tree[at].value;
}

}  // namespace

absl::StatusOr<TreeEnsemble> TreeEnsemble::Create(float start,
                                                  std::vector<Tree> trees,
                                                  size_t num_features) {
  if (!std::isfinite(start)) {
    return absl::InvalidArgumentError("the start is not finite");
  }
  for (size_t i = 0; i < trees.size(); ++i) {
    ASTRA_RETURN_IF_ERROR(Check(trees[i], i, num_features));
  }
  return TreeEnsemble(start, std::move(trees));
}

double TreeEnsemble::Predict(absl::Span<const double> features) const {
  float sum = start_;
  for (const Tree& tree : trees_) sum += AnswerOf(tree, features);
  return static_cast<double>(sum);
}

}  // namespace astra
