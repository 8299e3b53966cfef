// The time of a step by InternEvo's formula. In a micro-batch of b sequences of
// s positions, over sp ranks, a block takes
//
// clang-format off
//   overlap + exchange + attention + streams
//
//   products    (3 + c) x the five products of the block, each of complexity
//               2 b s (inputs) (outputs) / sp in the profile
//   overlap     products beside the collectives of the weight-parallel group:
//               max(a, b) + 0.1 min(a, b) of the two
//   exchange    the collectives of the sequence-parallel group
//   attention   (1 + c) forward + backward, by the operator model, or without
//               flash attention (3 + c) x two products of 2 b s s h / sp
//   streams     norms, rotary positions, SwiGLU and residual sums, by the
//               operator model
//
//   step        (m + PP - 1) stage + p2p + reduction + broadcasts + optimizer
//   stage       blocks of the largest stage, and the head; with one stage the
//               embedding, too
//   reduction   of gradients, what it adds to the backward pass of the last
//               micro-batch, (2 + c) / (3 + c) of the stage, beside which it
//               runs: max(a, b) + 0.1 min(a, b), less the pass
// clang-format on
//
// with m micro-batches, PP stages, and the share c of blocks recomputed.
//
// InternEvo's simulator differs in these points, which are errors of its
// results: queries, keys and values cost 3 h h even where keys are grouped; the
// embedding, the head, the loss, streams and the optimizer take no time; all
// collectives have constant bandwidths, as its tables are never read; the
// reduction of gradients is free; backward attention without flash attention
// takes as long as forward; embedding and head are not broadcast in msp and
// fsp.
//
// Left out, as there: experts, context parallelism, model chunks, and
// computation that is slower beside collectives, but for the 0.1 above.
//
// Source: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// simulation_train_formulaic.py (cal_cost) and
// internlm/simulator/formulas/{comp,overlap}.py.

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_COST_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_COST_H_

#include <cstdint>
#include <vector>

#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_messages.h"
#include "astra-core/planner/internevo/evo_model.h"
#include "astra-core/planner/internevo/evo_profile.h"
#include "workload/operators/compute_model.h"

namespace astra {

// What is trained, where, and with which times.
struct EvoJob {
  EvoModel model;
  int64_t seq_len = 0;
  EvoCluster cluster;
  const EvoProfile* profile = nullptr;
  const ComputeModel* operators = nullptr;  // Times of all but products.
  // Speed of products and attention in training, relative to the same alone.
  double load = 1;
};

// Seconds of computation for one micro-batch on a rank.
struct EvoWork {
  double products = 0;  // The five of a block, forward.
  double attention_forward = 0;
  double attention_backward = 0;
  double streams_forward = 0;  // Of a block.
  double streams_backward = 0;
  double head = 0;       // Norm, product and loss, both passes.
  double embedding = 0;  // Both passes.
};
EvoWork WorkOf(const EvoJob& job, int64_t micro_bsz, int64_t sequence);

// Seconds, under InternEvo's names, and those of this project where it has
// none.
struct EvoCost {
  double comp_wp = 0;    // Products of a block.
  double comp_attn = 0;  // Attention of a block.
  double comp_streams = 0;
  double wp_comm = 0;          // Weight-parallel collectives of a block.
  double sp_comm = 0;          // Sequence-parallel collectives of a block.
  double overlap_latency = 0;  // Products with weight-parallel collectives.
  double head = 0;             // Head of a micro-batch, with its collectives.
  double embedding = 0;        // The same of the embedding.
  double fwd_bwd = 0;          // A micro-batch on the largest stage.
  double all_fwd_bwd = 0;      // All micro-batches of a replica.
  double bubble = 0;
  double p2p = 0;
  double wdp_comm = 0;  // Reduction of gradients that nothing hides.
  double zp_comm = 0;   // Broadcasts of parameters.
  double optimizer = 0;
  double total = 0;
  double tokens = 0;  // Of a step.
  double tgs = 0;     // Tokens per GPU and second.

  double pp_comm() const { return bubble + p2p; }
};

// Returns the cost of a layout that CheckEvoLayout allows. `work` is that of
// its micro-batch. The profile must have every key of AppendKeys().
EvoCost CostOf(const EvoJob& job, const EvoLayout& layout, const EvoWork& work);

// Appends the tables that CostOf() reads. Returns false, and may have appended
// some, if a group lies unevenly on servers, so that no table holds for it.
bool AppendKeys(const EvoLayout& layout, const EvoCluster& cluster,
                std::vector<EvoKey>* keys);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_COST_H_
