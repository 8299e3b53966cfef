// Builds the slots of one stage in the order in which a schedule lists them.

#ifndef WORKLOAD_PIPELINE_STAGE_SLOTS_H_
#define WORKLOAD_PIPELINE_STAGE_SLOTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace astra {

// Numbers the micro-batches: each new slot gets the first micro-batch for which
// its kind of work has not been done in its chunk.
class StageSlots {
 public:
  // Chunk c runs `micro_batches` micro-batches, from first[c] on.
  StageSlots(std::vector<int64_t> first, int64_t micro_batches);

  // Each adds a slot of `chunk`, unless all its micro-batches are done.
  void Forward(int64_t chunk);
  void Backward(int64_t chunk);
  void InputGradient(int64_t chunk);
  void WeightGradient(int64_t chunk);

  // Adds a forward of one chunk and, beside it, a backward of another.
  void Pair(int64_t forward, int64_t backward);

  // Returns the slots so far and removes them from this object.
  std::vector<Slot> Take() { return std::move(slots_); }

 private:
  struct Done {
    int64_t forward = 0;
    int64_t input_gradient = 0;
    int64_t weight_gradient = 0;
  };

  void Add(SlotKind kind, int64_t chunk, int64_t ordinal);

  std::vector<int64_t> first_;
  int64_t micro_batches_;
  std::vector<Done> done_;  // By chunk.
  std::vector<Slot> slots_;
};

// Returns slots of chunk 0: forwards until the first gradient reaches the
// stage, and then for each micro-batch i one more forward, while there are any,
// and what `backward` adds for (slots, i).
template <class Backward>
StageSlots AlternatingSlots(const PipelineShape& shape, int64_t stage,
                            const Backward& backward) {
  StageSlots slots({0}, shape.micro_batches);
  for (int64_t i = stage + 1; i < shape.stages; ++i) slots.Forward(0);
  for (int64_t i = 0; i < shape.micro_batches; ++i) {
    slots.Forward(0);
    backward(slots, i);
  }
  return slots;
}

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_STAGE_SLOTS_H_
