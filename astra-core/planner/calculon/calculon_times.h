// How long an iteration takes in Calculon, and where its time goes.
//
// A processor runs all blocks of all micro-batches, forward and backward. The
// pipeline adds the bubble, with p processors, v chunks, m micro-batches and T
// the time of a chunk, forward and backward:
//
//   (p - 1) T + (v - 1) (p - m mod p) T [if p does not divide m]
//             - what processors with a block less save
//
// Offloaded bytes of a block travel beside its computation; what takes longer
// is exposed. Gradients are reduced by an all-reduce for each block, or a
// reduce-scatter and an all-gather with a sharded optimizer. With
// `data_par_overlap` the reductions of all chunks but the last hide behind the
// backward passes of p micro-batches of a chunk, those of the last chunk behind
// the blocks before; what is hidden still takes its share of the processors.
//
// Source: Llm._compute_batch_stats in llm.py of calculon-ai/calculon.
//
// Properties of Calculon that its numbers need, although they seem unintended:
// in inference, the bubble has the latency of a message backward; the FLOPs
// and accesses of recomputation are too large (see calculon_block.h), which
// shortens the time that is left to hide reductions.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_TIMES_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_TIMES_H_

#include "astra-core/planner/calculon/calculon_block.h"
#include "astra-core/planner/calculon/calculon_block_times.h"
#include "astra-core/planner/calculon/calculon_data_parallel.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// Seconds of an iteration.
struct CalculonTimes {
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double recompute = 0;
  double tensor_again = 0;  // Communication repeated for recomputation.
  double tensor_again_exposed = 0;
  double bubble = 0;
  double tensor = 0;
  double tensor_exposed = 0;
  double pipeline = 0;         // Messages, all exposed.
  double forward_offload = 0;  // Exposed.
  double backward_offload = 0;
  CalculonDataCost data;
  CalculonBlockTimes block;

  // Returns the computation that is not repeated.
  double computing() const { return forward + backward + optimizer; }
  double total() const;
};

CalculonTimes CalculonTimesOf(const CalculonInputs& inputs,
                              const CalculonBlockCost& block);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_TIMES_H_
