#include "astra-core/engine/layer_program.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace astra {
namespace {

constexpr uint8_t kForwardOps = 2;
constexpr Op kBackwardOps[] = {
    {OpKind::kCompute, Phase::kInputGradient, LayerId()},
    {OpKind::kCommunicate, Phase::kInputGradient, LayerId()},
    {OpKind::kCompute, Phase::kWeightGradient, LayerId()},
    {OpKind::kLaunch, Phase::kWeightGradient, LayerId()},
};

}  // namespace

LayerProgram::LayerProgram(const Workload& workload)
    : num_layers_(static_cast<uint32_t>(workload.layers().size())),
      recompute_from_(num_layers_) {
  std::iota(recompute_from_.begin(), recompute_from_.end(), 0);
  num_ops_ = int64_t{num_layers_} *
             (kForwardOps + static_cast<int64_t>(std::size(kBackwardOps)));
  for (const LayerId start : workload.recompute_starts()) {
    const auto after = std::upper_bound(workload.checkpoints().begin(),
                                        workload.checkpoints().end(), start);
    recompute_from_[start.index()] = std::prev(after)->index();
  }
  for (uint32_t layer = 0; layer < num_layers_; ++layer) {
    num_ops_ += int64_t{kForwardOps} * (layer - recompute_from_[layer]);
  }
}

Op LayerProgram::Next(Cursor& cursor) const {
  using Pass = Cursor::Pass;
  if (cursor.pass_ == Pass::kEnd) return Op();

  const uint32_t layer = cursor.layer_;
  if (cursor.pass_ == Pass::kBackward) {
    Op op = kBackwardOps[cursor.part_];
    op.layer = LayerId(layer);
    if (++cursor.part_ == std::size(kBackwardOps)) {
      if (layer == 0) {
        cursor.pass_ = Pass::kEnd;
      } else {
        EnterBackward(layer - 1, cursor);
      }
    }
    return op;
  }

  const Op op = {cursor.part_ == 0 ? OpKind::kCompute : OpKind::kCommunicate,
                 Phase::kForward, LayerId(layer)};
  if (++cursor.part_ == kForwardOps) {
    cursor.part_ = 0;
    ++cursor.layer_;
    if (cursor.pass_ == Pass::kRecompute &&
        cursor.layer_ == cursor.resume_at_) {
      cursor.pass_ = Pass::kBackward;
    } else if (cursor.layer_ == num_layers_) {
      EnterBackward(num_layers_ - 1, cursor);
    }
  }
  return op;
}

void LayerProgram::EnterBackward(uint32_t layer, Cursor& cursor) const {
  using Pass = Cursor::Pass;
  const bool recomputes = recompute_from_[layer] != layer;
  cursor.pass_ = recomputes ? Pass::kRecompute : Pass::kBackward;
  cursor.part_ = 0;
  cursor.layer_ = recompute_from_[layer];
  cursor.resume_at_ = layer;
}

}  // namespace astra
