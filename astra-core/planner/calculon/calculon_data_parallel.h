// Communication between replicas in Calculon: see calculon_times.h.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_DATA_PARALLEL_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_DATA_PARALLEL_H_

#include "astra-core/planner/calculon/calculon_block.h"
#include "astra-core/planner/calculon/calculon_block_times.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// Gradients and weights between replicas.
struct CalculonDataCost {
  double block_bytes = 0;
  double block_seconds = 0;
  double seconds = 0;  // Of all blocks.
  double exposed = 0;  // Of these, seconds in which nothing is computed.
  // Bytes/s that would hide all chunks but the last, and the last.
  double chunk_rate = 0;
  double tail_rate = 0;
};

// `times` are those of a block.
CalculonDataCost CalculonDataCostOf(const CalculonInputs& inputs,
                                    const CalculonBlockCost& block,
                                    const CalculonBlockTimes& times);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_DATA_PARALLEL_H_
