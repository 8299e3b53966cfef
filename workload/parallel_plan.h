// Which ranks form the groups of each dimension.
//
// A rank is counted tensor first, then data (or expert), then pipeline, as in
// Megatron-LM's order "tp-cp-ep-dp-pp":
//
//   rank = tp + TP * (dp + DP * pp),   dp = ep + EP * dp_ep
//
//   dimension   size        ranks of a group, for i = 0 .. size - 1
//   TP          TP          first + i
//   DP          DP          first + i * TP
//   EP          EP          first + i * TP
//   DP_EP       DP / EP     first + i * TP * EP
//   PP          PP          first + i * TP * DP
//
// EP groups exist at TP = 1 too.
//
// Source: Megatron-LM, parallel_state.py (the order of ranks); the names DP_EP
// and EP are SimAI's.

#ifndef WORKLOAD_PARALLEL_PLAN_H_
#define WORKLOAD_PARALLEL_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "workload/workload.h"

namespace astra {

class ParallelPlan {
 public:
  // Errors: InvalidArgument, naming the rule, unless all sizes are at least 1,
  // TP * PP divides the ranks and EP divides DP = ranks / (TP * PP).
  static absl::StatusOr<ParallelPlan> Create(const ParallelSizes& sizes);

  uint32_t num_ranks() const { return num_ranks_; }

  // How many ranks a group of `dimension` has, and how far apart they are.
  uint32_t GroupSize(ParallelDimension dimension) const;
  uint32_t GroupStride(ParallelDimension dimension) const;

  uint32_t NumGroups(ParallelDimension dimension) const {
    return num_ranks_ / GroupSize(dimension);
  }

  // The groups of a dimension are numbered by their lowest rank.
  uint32_t GroupOf(ParallelDimension dimension, RankId rank) const;

  // The ranks of a group, in increasing order.
  std::vector<RankId> Ranks(ParallelDimension dimension, uint32_t group) const;

 private:
  ParallelPlan(uint32_t num_ranks, uint32_t tensor, uint32_t expert,
               uint32_t data)
      : num_ranks_(num_ranks), tensor_(tensor), expert_(expert), data_(data) {}

  uint32_t num_ranks_;
  uint32_t tensor_;
  uint32_t expert_;
  uint32_t data_;
};

}  // namespace astra

#endif  // WORKLOAD_PARALLEL_PLAN_H_
