#include "astra-core/engine/rank_classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace astra {
namespace {

// Numbers signatures in order of first sight.
class Numbering {
 public:
  uint32_t Of(std::vector<uint32_t> signature) {
    const auto next = static_cast<uint32_t>(ids_.size());
    return ids_.try_emplace(std::move(signature), next).first->second;
  }
  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }

 private:
  std::map<std::vector<uint32_t>, uint32_t> ids_;
};

// Returns the cost class of a group, then the classes of its ranks, each with
// the number of ranks.
std::vector<uint32_t> GroupSignature(uint32_t cost_class,
                                     absl::Span<const RankId> ranks,
                                     absl::Span<const uint32_t> class_of_rank) {
  std::map<uint32_t, uint32_t> counts;
  for (const RankId rank : ranks) ++counts[class_of_rank[rank.index()]];
  std::vector<uint32_t> signature = {cost_class};
  for (const auto& [rank_class, count] : counts) {
    signature.push_back(rank_class);
    signature.push_back(count);
  }
  return signature;
}

std::vector<uint32_t> ClassifyGroups(const ParallelPlan& plan,
                                     const GroupCosts& groups,
                                     absl::Span<const uint32_t> class_of_rank) {
  Numbering numbering;
  std::vector<uint32_t> classes;
  for (uint32_t g = 0; g < groups.cost_class.size(); ++g) {
    classes.push_back(numbering.Of(GroupSignature(
        groups.cost_class[g], plan.Ranks(groups.dimension, g), class_of_rank)));
  }
  return classes;
}

std::vector<RankId> LowestRanks(absl::Span<const uint32_t> class_of_rank) {
  std::vector<RankId> lowest;
  for (uint32_t rank = 0; rank < class_of_rank.size(); ++rank) {
    if (class_of_rank[rank] == lowest.size()) lowest.push_back(RankId(rank));
  }
  return lowest;
}

}  // namespace

RankClasses ClassifyRanks(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          uint32_t num_stages) {
  RankClasses result;
  for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
    result.class_of_rank.push_back(rank / (plan.num_ranks() / num_stages));
  }
  for (uint32_t num_classes = num_stages;;) {
    result.class_of_group.clear();
    for (const GroupCosts& groups : dimensions) {
      result.class_of_group.push_back(
          ClassifyGroups(plan, groups, result.class_of_rank));
    }
    // Classes only split, so an equal number of classes means no change.
    Numbering numbering;
    std::vector<uint32_t> refined(plan.num_ranks());
    for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
      std::vector<uint32_t> signature = {result.class_of_rank[rank]};
      for (size_t d = 0; d < dimensions.size(); ++d) {
        signature.push_back(result.class_of_group[d][plan.GroupOf(
            dimensions[d].dimension, RankId(rank))]);
      }
      refined[rank] = numbering.Of(std::move(signature));
    }
    result.class_of_rank = std::move(refined);
    if (numbering.size() == num_classes) break;
    num_classes = numbering.size();
  }
  result.lowest_rank = LowestRanks(result.class_of_rank);
  return result;
}

RankClasses EachRankAlone(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions) {
  RankClasses result;
  result.class_of_rank.resize(plan.num_ranks());
  std::iota(result.class_of_rank.begin(), result.class_of_rank.end(), 0);
  result.lowest_rank = LowestRanks(result.class_of_rank);
  for (const GroupCosts& groups : dimensions) {
    std::vector<uint32_t> classes(groups.cost_class.size());
    std::iota(classes.begin(), classes.end(), 0);
    result.class_of_group.push_back(std::move(classes));
  }
  return result;
}

}  // namespace astra
