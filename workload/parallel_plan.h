// Assigns ranks to the groups of each dimension.
//
// Ranks are numbered by a RankOrder, for the experts a second time with their
// own sizes. By the default, "tp-cp-ep-dp-pp", this is
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
// By any order, a stage has S ranks, which are counted by their position in the
// stage, 0 to S - 1, from the lowest rank to the highest. The groups of a stage
// are the same positions in each stage.
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
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "workload/rank_order.h"

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
  RankOrder order = {};

  friend bool operator==(const ParallelSizes&, const ParallelSizes&) = default;
};

// The numbers of ranks along the axes, for the experts and for the rest.
// Experts that are split like the rest have its numbers.
struct RankViews {
  AxisSizes dense;
  AxisSizes expert;
};

// Requires that the sizes divide.
RankViews ViewsOf(const ParallelSizes& sizes);

// Returns whether `order` numbers ranks as the order of `sizes` does, since the
// dimensions in other places have one rank. Requires that the sizes divide.
bool NumbersAlike(const ParallelSizes& sizes, const RankOrder& order);

class ParallelPlan {
 public:
  static constexpr int64_t kMaxRanks = int64_t{1} << 24;

  // Errors: InvalidArgument, naming the rule, unless all sizes are at least 1,
  // TP * CP * PP divides the ranks and ETP * EP divides those of a stage, and
  // the order puts the stages as far apart for the experts as for the rest.
  static absl::StatusOr<ParallelPlan> Create(const ParallelSizes& sizes);

  uint32_t num_ranks() const { return num_ranks_; }

  uint32_t num_stages() const { return num_stages_; }
  // Returns the number of ranks of a stage.
  uint32_t stage_size() const { return num_ranks_ / num_stages_; }

  uint32_t StageOf(RankId rank) const {
    return rank.index() / stage_stride_ % num_stages_;
  }
  RankId RankOf(uint32_t stage, uint32_t position) const {
    return RankId((position / stage_stride_ * num_stages_ + stage) *
                      stage_stride_ +
                  position % stage_stride_);
  }

  // Returns the number of ranks of a group of `dimension`.
  uint32_t GroupSize(ParallelDimension dimension) const {
    return dimension == ParallelDimension::kPipeline ? num_stages_
                                                     : of(dimension).size();
  }
  uint32_t NumGroups(ParallelDimension dimension) const {
    return num_ranks_ / GroupSize(dimension);
  }

  // The groups of a dimension are numbered by their stage, then by their lowest
  // rank, so that each stage has equally many. Those of PP are numbered by
  // position.
  uint32_t GroupOf(ParallelDimension dimension, RankId rank) const;

  // The ranks of a group, in increasing order.
  std::vector<RankId> Ranks(ParallelDimension dimension, uint32_t group) const;

 private:
  // Positions `stride` apart.
  struct Run {
    uint32_t size = 1;
    uint32_t stride = 1;
  };
  // The positions of a group: sums of one of each run, the one with the larger
  // stride last.
  struct Shape {
    std::array<Run, 2> runs;

    uint32_t size() const { return runs[0].size * runs[1].size; }
  };

  explicit ParallelPlan(uint32_t num_ranks) : num_ranks_(num_ranks) {}

  Shape& of(ParallelDimension dimension) { return shapes_[IndexOf(dimension)]; }
  const Shape& of(ParallelDimension dimension) const {
    return shapes_[IndexOf(dimension)];
  }

  uint32_t PositionOf(RankId rank) const;
  // Returns the shape of the ranks along some axes.
  Shape ShapeOf(const RankOrder& order, const AxisSizes& sizes,
                std::initializer_list<RankAxis> axes) const;

  uint32_t num_ranks_;
  uint32_t num_stages_ = 1;
  uint32_t stage_stride_ = 1;  // From a rank to its like in the next stage.
  // By IndexOf(ParallelDimension); none for PP.
  std::array<Shape, kNumParallelDimensions> shapes_;
};

}  // namespace astra

#endif  // WORKLOAD_PARALLEL_PLAN_H_
