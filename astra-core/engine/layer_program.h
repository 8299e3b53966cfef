// The order in which a rank goes through the phases of the layers.
//
//   forward    for each layer: compute, then the forward collective, blocking
//   backward   for each layer, last first:
//                recompute, if it starts here: the layers from the nearest
//                checkpoint up to this one run forward again
//                input gradient: compute, then its collective, blocking
//                weight gradient: compute, then its collective, launched
//   end        wait for all that was launched
//
// Nothing is unrolled: a rank is a cursor of a few bytes.
//
// Source: the state machines of HYBRID_TRANSFORMER and
// HYBRID_TRANSFORMER_FWD_IN_BCKWD in ASTRA-sim and SimAI.

#ifndef ASTRA_CORE_ENGINE_LAYER_PROGRAM_H_
#define ASTRA_CORE_ENGINE_LAYER_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "astra-core/engine/rank_program.h"
#include "workload/workload.h"

namespace astra {

class LayerProgram final : public RankProgram {
 public:
  // `workload` must outlive the program.
  explicit LayerProgram(const Workload& workload);

  OpStream Begin(uint32_t stage) const override;
  int64_t num_ops(uint32_t /*stage*/) const override { return num_ops_; }

 private:
  enum class Pass : uint8_t { kForward, kRecompute, kBackward, kWaitAll, kEnd };

  // Where a rank stands; begins at the first operation.
  struct Cursor {
    Pass pass = Pass::kForward;
    uint8_t part = 0;  // Of the layer's operations in this pass.
    uint32_t layer = 0;
    uint32_t resume_at = 0;  // The layer that the recomputation ends at.
  };

  // Returns the operation at `cursor` and moves it on.
  Op Next(Cursor& cursor) const;
  Op OpOf(OpKind kind, Phase phase, uint32_t layer) const;
  void EnterBackward(uint32_t layer, Cursor& cursor) const;

  const Workload& workload_;

  uint32_t num_layers_;
  std::vector<uint32_t> recompute_from_;  // By layer; itself: none.
  int64_t num_ops_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LAYER_PROGRAM_H_
