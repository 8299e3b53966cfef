#include "astra-core/engine/layer_program.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace astra {
namespace {

constexpr uint8_t kForwardOps = 2;
constexpr std::pair<OpKind, Phase> kBackwardOps[] = {
    {OpKind::kCompute, Phase::kInputGradient},
    {OpKind::kBlocking, Phase::kInputGradient},
    {OpKind::kCompute, Phase::kWeightGradient},
    {OpKind::kLaunch, Phase::kWeightGradient},
};

}  // namespace

LayerProgram::LayerProgram(const Workload& workload)
    : workload_(workload),
      num_layers_(static_cast<uint32_t>(workload.layers().size())),
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

OpStream LayerProgram::Begin(uint32_t /*stage*/) const {
  return [this, cursor = Cursor()]() mutable { return Next(cursor); };
}

Op LayerProgram::OpOf(OpKind kind, Phase phase, uint32_t layer) const {
  const Layer& of = workload_.layer(LayerId(layer));
  const LayerPhase& part = of.phase(phase);
  Op op = {.kind = kind, .phase = phase, .layer = LayerId(layer)};
  if (kind == OpKind::kCompute) {
    op.compute = part.compute;
  } else if (part.communication) {
    op.communication = *part.communication;
    op.lane = LaneOf(part.communication->dimension);
    op.update = of.update;
  }
  return op;
}

Op LayerProgram::Next(Cursor& cursor) const {
  if (cursor.pass == Pass::kEnd) return Op();
  if (cursor.pass == Pass::kWaitAll) {
    cursor.pass = Pass::kEnd;
    return {.kind = OpKind::kWaitAll};
  }

  const uint32_t layer = cursor.layer;
  if (cursor.pass == Pass::kBackward) {
    const auto [kind, phase] = kBackwardOps[cursor.part];
    if (++cursor.part == std::size(kBackwardOps)) {
      if (layer == 0) {
        cursor.pass = Pass::kWaitAll;
      } else {
        EnterBackward(layer - 1, cursor);
      }
    }
    return OpOf(kind, phase, layer);
  }

  const OpKind kind = cursor.part == 0 ? OpKind::kCompute : OpKind::kBlocking;
  if (++cursor.part == kForwardOps) {
    cursor.part = 0;
    ++cursor.layer;
    if (cursor.pass == Pass::kRecompute && cursor.layer == cursor.resume_at) {
      cursor.pass = Pass::kBackward;
    } else if (cursor.layer == num_layers_) {
      EnterBackward(num_layers_ - 1, cursor);
    }
  }
  return OpOf(kind, Phase::kForward, layer);
}

void LayerProgram::EnterBackward(uint32_t layer, Cursor& cursor) const {
  const bool recomputes = recompute_from_[layer] != layer;
  cursor.pass = recomputes ? Pass::kRecompute : Pass::kBackward;
  cursor.part = 0;
  cursor.layer = recompute_from_[layer];
  cursor.resume_at = layer;
}

}  // namespace astra
