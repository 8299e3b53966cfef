// Finds the ranks that do the same, so that one rank stands for all of its
// class.
//
// All ranks of a stage run one program. Two of them may still see different
// times if their groups are placed differently on the network. Ranks are of one
// class if their groups of each dimension cost the same and consist of the same
// classes. Simulating one rank of each class then gives the times of all. A
// simulated group starts when the last of its classes arrives, and so does each
// group that it stands for.
//
// Source: colour refinement (1-dimensional Weisfeiler-Leman), here on ranks and
// groups.

#ifndef ASTRA_CORE_ENGINE_RANK_CLASSES_H_
#define ASTRA_CORE_ENGINE_RANK_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "workload/parallel_plan.h"

namespace astra {

// The costs of the groups of one dimension. Each group has two ranks or more.
struct GroupCosts {
  ParallelDimension dimension;
  std::vector<uint32_t> cost_class;  // By group; equal for equal costs.
};

struct RankClasses {
  std::vector<uint32_t> class_of_rank;
  std::vector<RankId> lowest_rank;  // By class; increasing.
  std::vector<uint32_t> stage;      // By class: which program it runs.
  // By dimension, in the order of the GroupCosts given, and group: the class of
  // the group. Classes are numbered by their lowest group.
  std::vector<std::vector<uint32_t>> class_of_group;
};

// Returns the coarsest partition of ranks into classes as defined above. If the
// stages of the plan run programs of their own, a class never spans two.
RankClasses ClassifyRanks(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          bool by_stage = false);

// Returns classes in which each rank and each group is alone.
RankClasses EachRankAlone(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          bool by_stage = false);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RANK_CLASSES_H_
