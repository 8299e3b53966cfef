// How long a block of Calculon takes for one micro-batch, with exposed
// communication, messages of the pipeline and offloading: see
// calculon_times.h.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_TIMES_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_TIMES_H_

#include "astra-core/planner/calculon/calculon_block.h"
#include "astra-core/planner/calculon/calculon_inputs.h"
#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {

// Seconds of one block and one micro-batch, by kind of block.
struct CalculonBlockTimes {
  CalculonPair forward;  // Without offloading.
  CalculonPair backward;
  CalculonPair forward_offload;  // Exposed time of offloading.
  CalculonPair backward_offload;
  double forward_message = 0;  // To the next processor; part of edge blocks.
  double backward_message = 0;

  CalculonPair whole_forward() const {
    return {forward.base + forward_offload.base,
            forward.edge + forward_offload.edge};
  }
  CalculonPair whole_backward() const {
    return {backward.base + backward_offload.base,
            backward.edge + backward_offload.edge};
  }
};

CalculonBlockTimes CalculonBlockTimesOf(const CalculonInputs& inputs,
                                        const CalculonBlockCost& block);

// Returns the bytes of a block that travel to or from the second memory during
// its forward and its backward pass.
double CalculonForwardOffload(const CalculonInputs& inputs,
                              const CalculonBlockCost& block);
double CalculonBackwardOffload(const CalculonInputs& inputs,
                               const CalculonBlockCost& block);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_BLOCK_TIMES_H_
