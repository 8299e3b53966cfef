// The slots of one stage as a schedule lists them.

#ifndef WORKLOAD_PIPELINE_STAGE_SLOTS_H_
#define WORKLOAD_PIPELINE_STAGE_SLOTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace astra {

// Numbers the micro-batches: each slot is of the first one for which that has
// not been done in its chunk.
class StageSlots {
 public:
  // The micro-batches of chunk c are `micro_batches` many from first[c] on.
  StageSlots(std::vector<int64_t> first, int64_t micro_batches);

  // Those without any effect once all micro-batches of the chunk are done.
  void Forward(int64_t chunk);
  void Backward(int64_t chunk);
  void InputGradient(int64_t chunk);
  void WeightGradient(int64_t chunk);

  // The slots so far, which are no longer here.
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

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_STAGE_SLOTS_H_
