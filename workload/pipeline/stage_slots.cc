#include "workload/pipeline/stage_slots.h"

#include "astra-core/base/check.h"

namespace astra {

StageSlots::StageSlots(std::vector<int64_t> first, int64_t micro_batches)
    : first_(std::move(first)),
      micro_batches_(micro_batches),
      done_(first_.size()) {}

void StageSlots::Forward(int64_t chunk) {
  Add(SlotKind::kForward, chunk, done_[static_cast<size_t>(chunk)].forward++);
}

// Adds both gradients as one slot. No earlier weight gradient may be
// outstanding.
void StageSlots::Backward(int64_t chunk) {
  Done& done = done_[static_cast<size_t>(chunk)];
  ASTRA_CHECK(done.input_gradient == done.weight_gradient, "chunk {}", chunk);
  ++done.weight_gradient;
  Add(SlotKind::kBackward, chunk, done.input_gradient++);
}

void StageSlots::InputGradient(int64_t chunk) {
  Add(SlotKind::kInputGradient, chunk,
      done_[static_cast<size_t>(chunk)].input_gradient++);
}

void StageSlots::WeightGradient(int64_t chunk) {
  Add(SlotKind::kWeightGradient, chunk,
      done_[static_cast<size_t>(chunk)].weight_gradient++);
}

void StageSlots::Pair(int64_t forward, int64_t backward) {
  const size_t before = slots_.size();
  Forward(forward);
  Backward(backward);
  if (slots_.size() == before + 2) slots_[before].beside_next = true;
}

void StageSlots::Add(SlotKind kind, int64_t chunk, int64_t ordinal) {
  if (ordinal >= micro_batches_) return;
  const int64_t micro_batch = first_[static_cast<size_t>(chunk)] + ordinal;
  slots_.push_back({.kind = kind,
                    .chunk = static_cast<int32_t>(chunk),
                    .micro_batch = static_cast<int32_t>(micro_batch)});
}

}  // namespace astra
