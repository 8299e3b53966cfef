// How Calculon spreads blocks over the processors of a pipeline.
//
// Each processor has the number of blocks that the first one has; the last
// ones may have one less. Blocks form chunks, between which the pipeline
// interleaves. The last block of a chunk is an edge block: the message to the
// next processor follows it. The others are base blocks.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_SCHEDULE_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_SCHEDULE_H_

#include <cstdint>

#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// A quantity of a base block and of an edge block.
struct CalculonPair {
  double base = 0;
  double edge = 0;
};

struct CalculonSchedule {
  int64_t micro_batches = 0;   // Of an iteration, on each processor.
  int64_t blocks = 0;          // Of the first processor.
  int64_t missing_blocks = 0;  // Processors with one block less.
  int64_t chunks = 0;          // Of a processor.
  int64_t chunk_blocks = 0;    // Blocks of a chunk; one is an edge block.

  // Returns the sum of `each` over the blocks of a chunk.
  double OfChunk(const CalculonPair& each) const {
    return static_cast<double>(chunk_blocks - 1) * each.base + each.edge;
  }

  // Returns the sum of `each` over the blocks and micro-batches of a processor.
  double OfIteration(const CalculonPair& each) const {
    return static_cast<double>(micro_batches * chunks) * OfChunk(each);
  }
};

// Returns the schedule; where pipeline_interleaving does not divide the blocks
// of a processor, only `blocks` and `missing_blocks` are meaningful.
CalculonSchedule CalculonScheduleOf(const CalculonInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_SCHEDULE_H_
