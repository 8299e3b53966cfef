// What the ranks of a layout send one another: collectives of a block, of the
// embedding and of the head for each micro-batch, and those of a step. Bytes
// are of BF16 values, for b sequences of s positions, hidden size h and group
// sizes sp, wp; c is the share of blocks that are recomputed.
//
// clang-format off
//   a block, msp   sp  all_gather       2 (1 + c) + 2  of 2 b s h
//                      reduce_scatter   2 (1 + c) + 2  of 2 b s h
//   a block, fsp       the same, and 2 all_gather more in the backward pass
//   a block, isp   sp  all2all          (1 + c) + 1 each of queries, keys,
//                                       values, output: 2 b (s / sp) h, with
//                                       kv_heads / heads of it for keys, values
//                  wp  all_gather       2 of each weight matrix
//                      reduce_scatter   1 of each weight matrix
//   embedding      sp  all_gather       2 of 2 b s h: its hidden size is split
//   head           sp  all_gather       1 of 2 b s h, 2 in fsp
//                      reduce_scatter   1 of 2 b s h
//   stages             p2p              2 b (s / sp) h
//   a step         all_reduce of gradients over replicas, a broadcast by each
//                  rank of a ZeRO group of the parameters that it updated; in
//                  isp, embedding and head have replicas of their own
// clang-format on
//
// Unlike InternEvo's simulator, keys and values are as wide as their heads, the
// embedding and the head take part, and all three feed-forward matrices count
// (it leaves out w3, in the modes where their group has one rank anyway).
//
// Sources: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// internlm/simulator/formulas/comm.py and simulation_train_formulaic.py;
// InternEvo, internlm/model/modules/embedding.py (split of the hidden size).

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_MESSAGES_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_model.h"
#include "astra-core/planner/internevo/evo_profile.h"

namespace astra {

inline constexpr double kBf16Bytes = 2;

// The groups of a rank.
enum class EvoPart : uint8_t {
  kSequence,        // Sequence or tensor parallelism.
  kWeight,          // Weight parallelism.
  kData,            // Replicas of embedding and head.
  kWeightReplicas,  // Replicas of the blocks' weights.
  kZero,
  kStages,  // A rank and the one of the next stage.
};
inline constexpr EvoPart kEvoParts[] = {
    EvoPart::kSequence,       EvoPart::kWeight, EvoPart::kData,
    EvoPart::kWeightReplicas, EvoPart::kZero,   EvoPart::kStages};

// Size of a group, and how far apart its ranks are.
struct EvoRanks {
  int64_t size = 1;
  int64_t stride = 1;
};
EvoRanks RanksOf(EvoPart part, const EvoLayout& layout, int64_t world);

struct EvoMessages {
  EvoOp op = EvoOp::kAllGather;
  EvoPart part = EvoPart::kSequence;
  double bytes = 0;  // Of one of them.
  double count = 0;
};

std::vector<EvoMessages> BlockMessages(const EvoModel& model, int64_t seq_len,
                                       const EvoLayout& layout);
std::vector<EvoMessages> EmbeddingMessages(const EvoModel& model,
                                           int64_t seq_len,
                                           const EvoLayout& layout);
std::vector<EvoMessages> HeadMessages(const EvoModel& model, int64_t seq_len,
                                      const EvoLayout& layout);

// Returns all messages between two neighbouring stages in a step, as one rank
// waits for them: count is min(PP, m) + (m - 1) + min(PP, m) for m
// micro-batches, 0 with one stage.
EvoMessages StageMessages(const EvoModel& model, int64_t seq_len,
                          const EvoLayout& layout);

// Parameters of a rank of the largest stage, with an embedding, and with the
// head where the stage is the only one.
struct EvoOwned {
  double blocks = 0;
  double embedding = 0;
};
EvoOwned OwnedParameters(const EvoModel& model, const EvoLayout& layout);

// The collectives of a step: the reduction of gradients, and the broadcasts of
// updated parameters.
struct EvoStepMessages {
  std::vector<EvoMessages> reductions;
  std::vector<EvoMessages> broadcasts;
  // Broadcasts of embedding and head in isp, which run beside the others.
  std::vector<EvoMessages> broadcasts_beside;
};
EvoStepMessages StepMessages(const EvoModel& model, const EvoLayout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_MESSAGES_H_
