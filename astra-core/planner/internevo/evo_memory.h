// The memory of a rank by InternEvo's formulas, in bytes, for b sequences of s
// positions over sp ranks, hidden size h, V words, g = kv_heads / heads and
// r = ffn / h:
//
// clang-format off
//   parameters and gradients  4 P, with P parameters on a rank of the largest
//                             stage (OwnedParameters)
//   optimizer states          12 P / zero; in isp those of the embedding are
//                             split in two if it has replicas
//   blocks in flight          b s h (14 + 4 g + 8 r) / sp each, for those that
//                             are not recomputed; in msp b s h (4 + (10 + 4 g +
//                             8 r) / sp); without flash attention 5 heads s / h
//                             more in the brackets
//   recomputed blocks         2 b s h / sp each, for their outputs
//   head                      norm in FP32 4 b s h / sp; input 2 b s h / sp (fsp,
//                             isp); logits 2 b s V / sp
//   backward peak             4 b s h + 4 b s h / sp + 2 h V / sp
//   isp pool                  4 x the weights of a block, gathered ahead and
//                             reduced behind; where wp is above 1
//   rotary positions          2 (blocks of a stage) s (h / heads)
//   messages between stages   2 b (s / sp) h, with several stages
//
//   peak = max(all of these, parameters and gradients + 5/3 optimizer states)
// clang-format on
//
// The second is that of Adam's update. Blocks in flight are those of the stage
// that keeps most (BlocksInFlight): all blocks, where stages are equal.
//
// InternEvo's simulator has 118/3 for 14 + 4 g + 8 r, which is g = 1 and
// r = 8/3, counts 3 h h for grouped keys in the pool, and keeps a pool even for
// a weight-parallel group of one rank, which gathers nothing. Left out, as
// there: what kernels use for a while, what PyTorch reserves.
//
// Source: github.com/li126com/InternEvo, internlm/simulator/formulas/mem.py;
// SolenoidWGT/InternEvo, branch feat/new_split_pg,
// simulation_train_formulaic.py.

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_MEMORY_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_MEMORY_H_

#include <cstdint>

#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_model.h"

namespace astra {

// Bytes, under InternEvo's names.
struct EvoMemory {
  double os = 0;   // Optimizer states.
  double p_g = 0;  // Parameters and gradients.
  double isp_pool = 0;
  double sincos_cache = 0;
  double pp_p2p_buffer = 0;
  double blocks = 0;        // Activations of blocks in flight.
  double block_output = 0;  // Outputs of recomputed blocks in flight.
  double norm = 0;
  double head_input = 0;
  double head_output = 0;
  double backward_peak = 0;
  double total = 0;  // The peak.

  double activation() const {
    return blocks + block_output + norm + head_input + head_output +
           backward_peak;
  }
};

EvoMemory MemoryOf(const EvoModel& model, int64_t seq_len, int64_t world,
                   const EvoLayout& layout);

// Returns over how many ranks the optimizer states of embedding and head are
// split.
double EmbeddingShards(const EvoLayout& layout, int64_t world);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_MEMORY_H_
