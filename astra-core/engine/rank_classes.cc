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

// Sets the lowest rank and the stage of each class.
void SetLowest(const ParallelPlan& plan, bool by_stage, RankClasses& classes) {
  for (uint32_t i = 0; i < classes.class_of_rank.size(); ++i) {
    if (classes.class_of_rank[i] < classes.lowest_rank.size()) continue;
    classes.lowest_rank.emplace_back(i);
    classes.stage.push_back(by_stage ? plan.StageOf(RankId(i)) : 0);
  }
}

}  // namespace

RankClasses ClassifyRanks(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          bool by_stage) {
  RankClasses result;
  for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
    result.class_of_rank.push_back(by_stage ? plan.StageOf(RankId(rank)) : 0);
  }
  for (uint32_t num_classes = by_stage ? plan.num_stages() : 1;;) {
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
  SetLowest(plan, by_stage, result);
  return result;
}

RankClasses EachRankAlone(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          bool by_stage) {
  RankClasses result;
  result.class_of_rank.resize(plan.num_ranks());
  std::iota(result.class_of_rank.begin(), result.class_of_rank.end(), 0);
  SetLowest(plan, by_stage, result);
  for (const GroupCosts& groups : dimensions) {
    std::vector<uint32_t> classes(groups.cost_class.size());
    std::iota(classes.begin(), classes.end(), 0);
    result.class_of_group.push_back(std::move(classes));
  }
  return result;
}

}  // namespace astra
