// Assigns ranks to the groups of each dimension.
//
// Ranks are numbered tensor first, then context, data and pipeline. For the
// experts, the ranks of a stage are numbered a second time: expert-tensor
// first, then expert, then the remaining replicas. Both follow Megatron-LM's
// order "tp-cp-ep-dp-pp":
//
//   rank = tp + TP * (cp + CP * dp) + S * pp,   S = TP * CP * DP
//        = etp + ETP * (ep + EP * dp_ep) + S * pp
//
//   dimension   size               ranks of a group, for i = 0 .. size - 1
//   TP          TP                 first + i
//   CP          CP                 first + i * TP
//   DP          CP * DP            first + i * TP
//   ETP         ETP, default TP    first + i
//   EP          EP                 first + i * ETP
//   DP_EP       S / (ETP * EP)     first + i * ETP * EP
//   PP          PP                 first + i * S
//
// A DP group holds the same weights outside of experts and sums their
// gradients; a CP group is a part of it. EP groups exist at TP = 1 too.
//
// Source: Megatron-LM, parallel_state.py (the order of ranks); the names DP_EP
// and EP are SimAI's.

#ifndef WORKLOAD_PARALLEL_PLAN_H_
#define WORKLOAD_PARALLEL_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"

namespace astra {

// The sizes of the dimensions, and the numbers of chunks and micro-batches.
struct ParallelSizes {
  int64_t num_ranks = 1;
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t expert = 1;
  std::optional<int64_t> expert_tensor;  // ETP; none: the same as `tensor`.
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;  // Model chunks of a stage (vpp).
  int64_t micro_batches = 1;   // Gradient accumulation steps (ga).

  friend bool operator==(const ParallelSizes&, const ParallelSizes&) = default;
};

class ParallelPlan {
 public:
  static constexpr int64_t kMaxRanks = int64_t{1} << 24;

  // Errors: InvalidArgument, naming the rule, unless all sizes are at least 1,
  // TP * CP * PP divides the ranks and ETP * EP divides those of a stage.
  static absl::StatusOr<ParallelPlan> Create(const ParallelSizes& sizes);

  uint32_t num_ranks() const { return num_ranks_; }

  // Number of ranks of a group of `dimension`, and the distance between
  // successive ranks.
  uint32_t GroupSize(ParallelDimension dimension) const {
    return of(dimension).size;
  }
  uint32_t GroupStride(ParallelDimension dimension) const {
    return of(dimension).stride;
  }

  uint32_t NumGroups(ParallelDimension dimension) const {
    return num_ranks_ / GroupSize(dimension);
  }

  // The groups of a dimension are numbered by their lowest rank.
  uint32_t GroupOf(ParallelDimension dimension, RankId rank) const;

  // The ranks of a group, in increasing order.
  std::vector<RankId> Ranks(ParallelDimension dimension, uint32_t group) const;

 private:
  // By IndexOf(ParallelDimension).
  struct Shape {
    uint32_t size = 1;
    uint32_t stride = 1;
  };

  explicit ParallelPlan(uint32_t num_ranks) : num_ranks_(num_ranks) {}

  Shape& of(ParallelDimension dimension) { return shapes_[IndexOf(dimension)]; }
  const Shape& of(ParallelDimension dimension) const {
    return shapes_[IndexOf(dimension)];
  }

  uint32_t num_ranks_;
  std::array<Shape, kNumParallelDimensions> shapes_;
};

}  // namespace astra

#endif  // WORKLOAD_PARALLEL_PLAN_H_
