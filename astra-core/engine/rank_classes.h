// Which ranks do the same, so that one stands for all of them.
//
// All ranks of a stage run one program. Two of them may still see different
// times, where their groups lie differently on the network. Ranks are of one
// class if their groups of each dimension cost the same and are made up of the
// same classes. Simulating one rank of each class then gives the times of all:
// a group of the quotient starts when the last of its classes arrives, and so
// does each group that it stands for.
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

// The groups of one dimension, of two ranks or more.
struct GroupCosts {
  ParallelDimension dimension;
  std::vector<uint32_t> cost_class;  // By group; equal for equal costs.
};

struct RankClasses {
  std::vector<uint32_t> class_of_rank;
  std::vector<RankId> lowest_rank;  // By class; increasing.
  // Parallel to the GroupCosts given: for each group its class, numbered by
  // the lowest group of each.
  std::vector<std::vector<uint32_t>> class_of_group;
};

// The coarsest classes that hold what is said above, none of them of several
// of `num_stages` successive stages of equal size.
RankClasses ClassifyRanks(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions,
                          uint32_t num_stages = 1);

// Each rank and each group is a class of its own.
RankClasses EachRankAlone(const ParallelPlan& plan,
                          absl::Span<const GroupCosts> dimensions);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RANK_CLASSES_H_
