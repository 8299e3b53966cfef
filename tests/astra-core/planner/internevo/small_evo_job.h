// A small model with times that can be worked out by hand: a FLOP of a product
// and a byte of a collective take 1 ns, attention 1 us forward and 2 us
// backward, and everything else nothing.

#ifndef TESTS_ASTRA_CORE_PLANNER_INTERNEVO_SMALL_EVO_JOB_H_
#define TESTS_ASTRA_CORE_PLANNER_INTERNEVO_SMALL_EVO_JOB_H_

#include <variant>
#include <vector>

#include "astra-core/planner/internevo/evo_cost.h"

namespace astra::testing {

// Blocks of 784 parameters: 128 + 64 + 3 x 192 and two norms of 8.
inline constexpr EvoModel kSmallModel = {.hidden = 8,
                                         .layers = 4,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .vocabulary = 16,
                                         .ffn = 24};
inline constexpr int64_t kSmallSeqLen = 4;

class SmallOperators : public ComputeModel {
 public:
  OperatorTime TimeOf(const Operator& op) const override {
    const auto* attention = std::get_if<Attention>(&op.shape);
    if (attention == nullptr) return {};
    return {.time = Microseconds(attention->backward ? 2 : 1)};
  }
};

// Returns a table without a start.
inline EvoCurve RateCurve(double seconds_per_unit) {
  return EvoCurve({{1, seconds_per_unit}});
}

// All tables of the world's groups.
inline EvoProfile SmallProfile(int64_t world, double seconds_per_byte = 1e-9) {
  EvoProfile profile = {.products = RateCurve(1e-9), .collectives = {}};
  for (const EvoOp op :
       {EvoOp::kAllToAll, EvoOp::kAllReduce, EvoOp::kReduceScatter,
        EvoOp::kAllGather, EvoOp::kBroadcast, EvoOp::kP2p}) {
    for (int64_t intra = 1; intra <= world; ++intra) {
      for (int64_t inter = 1; intra * inter <= world; ++inter) {
        profile.collectives.emplace(EvoKey{op, {intra, inter}},
                                    RateCurve(seconds_per_byte));
      }
    }
  }
  return profile;
}

inline EvoJob SmallJob(const EvoProfile& profile, int64_t world) {
  static const SmallOperators operators;
  return {.model = kSmallModel,
          .seq_len = kSmallSeqLen,
          .cluster = {.world = world, .gpus_per_server = 4},
          .profile = &profile,
          .operators = &operators};
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_PLANNER_INTERNEVO_SMALL_EVO_JOB_H_
