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

#include "astra-core/base/ids.h"
#include "workload/workload.h"

namespace astra {

enum class OpKind : uint8_t {
  kCompute,      // Takes the compute time of the layer's phase.
  kCommunicate,  // Runs the phase's collective, if any, and waits for it.
  kLaunch,       // Starts the phase's collective, if any, and goes on.
  kFinish,       // Waits for everything launched. The last one.
};

struct Op {
  OpKind kind = OpKind::kFinish;
  Phase phase = Phase::kForward;
  LayerId layer;

  friend bool operator==(const Op&, const Op&) = default;
};

class LayerProgram {
 public:
  // Where a rank stands; begins at the first operation.
  class Cursor {
   private:
    friend class LayerProgram;
    enum class Pass : uint8_t { kForward, kRecompute, kBackward, kEnd };

    Pass pass_ = Pass::kForward;
    uint8_t part_ = 0;  // Of the layer's operations in this pass.
    uint32_t layer_ = 0;
    uint32_t resume_at_ = 0;  // The layer that the recomputation ends at.
  };

  // `workload` must outlive the program.
  explicit LayerProgram(const Workload& workload);

  // Returns the operation at `cursor` and moves it on; kFinish for ever once
  // all others were returned.
  Op Next(Cursor& cursor) const;

  // How many operations there are before kFinish.
  int64_t num_ops() const { return num_ops_; }

 private:
  void EnterBackward(uint32_t layer, Cursor& cursor) const;

  uint32_t num_layers_;
  std::vector<uint32_t> recompute_from_;  // By layer; itself: none.
  int64_t num_ops_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_LAYER_PROGRAM_H_
