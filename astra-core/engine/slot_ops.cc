#include "astra-core/engine/slot_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "astra-core/base/check.h"
#include "astra-core/base/parallel_dimension.h"

namespace astra {
namespace {

constexpr ModulePass kForwardPasses[] = {ModulePass::kForward};
constexpr ModulePass kBackwardPasses[] = {ModulePass::kRecompute,
                                          ModulePass::kInputGradient,
                                          ModulePass::kWeightGradient};
constexpr absl::Span<const ModulePass> kBackward(kBackwardPasses);

// Returns the passes of each module that a slot runs.
absl::Span<const ModulePass> PassesOf(SlotKind kind) {
  switch (kind) {
    case SlotKind::kForward:
      return kForwardPasses;
    case SlotKind::kBackward:
      return kBackward;
    case SlotKind::kInputGradient:
      return kBackward.first(2);
    case SlotKind::kWeightGradient:
      return kBackward.last(1);
  }
  ASTRA_CHECK(false, "slot kind {}", static_cast<int>(kind));
}

// Returns the modules of `chunk` of `stage`, in the order of the forward pass.
std::vector<ModuleId> ModulesOf(const ProgramStage& stage, int32_t chunk) {
  std::vector<ModuleId> modules;
  for (const ModuleRun& run : stage.runs) {
    if (run.chunk != chunk) continue;
    for (int64_t i = 0; i < run.times; ++i) {
      modules.insert(modules.end(), run.modules.begin(), run.modules.end());
    }
  }
  return modules;
}

bool WaitsForExperts(const Op& op) {
  return op.kind == OpKind::kBlocking &&
         op.communication.dimension == ParallelDimension::kExpert;
}

// Takes operations from two lists in turn.
class PairWriter {
 public:
  PairWriter(absl::Span<const Op> first, absl::Span<const Op> second) {
    halves_[0].ops = first;
    halves_[1].ops = second;
  }

  std::vector<Op> Write() {
    for (size_t turn = 0; !IsDone(0) || !IsDone(1); turn = 1 - turn) {
      Take(turn);
    }
    return std::move(ops_);
  }

 private:
  struct Half {
    absl::Span<const Op> ops;
    size_t next = 0;
    std::optional<Op> started;  // A collective that it still waits for.
  };

  bool IsDone(size_t turn) const {
    const Half& half = halves_[turn];
    return half.next == half.ops.size() && !half.started;
  }

  // Ends what the half waits for, and goes on to its next wait.
  void Take(size_t turn) {
    Half& half = halves_[turn];
    const Half& other = halves_[1 - turn];
    if (half.started) {
      // The lane is first in, first out, and the other half started its
      // collective later.
      Op wait = *half.started;
      wait.kind = OpKind::kWait;
      wait.outstanding = other.started ? 1 : 0;
      Add(turn, wait);
      half.started.reset();
    }
    while (half.next < half.ops.size()) {
      Op op = half.ops[half.next++];
      const bool can_hide = WaitsForExperts(op) && !IsDone(1 - turn);
      if (can_hide) op.kind = OpKind::kLaunch;
      Add(turn, op);
      if (!can_hide) continue;
      half.started = op;
      return;
    }
  }

  void Add(size_t turn, Op op) {
    op.chunk = static_cast<int32_t>(turn);
    ops_.push_back(op);
  }

  std::array<Half, 2> halves_;
  std::vector<Op> ops_;
};

}  // namespace

// Appends the module passes that `chunk` of `stage` runs in a slot of `kind`.
void AppendOccurrences(const Program& program, const ProgramStage& stage,
                       int32_t chunk, SlotKind kind,
                       std::vector<Occurrence>& occurrences) {
  std::vector<ModuleId> modules = ModulesOf(stage, chunk);
  if (kind != SlotKind::kForward) std::reverse(modules.begin(), modules.end());
  for (const ModuleId id : modules) {
    const std::optional<ModuleId> from = program.module(id).rerun_from;
    if (from && IsBackward(kind)) {
      for (uint32_t rerun = from->index(); rerun < id.index(); ++rerun) {
        occurrences.push_back({ModuleId(rerun), kForwardPasses});
      }
    }
    occurrences.push_back({id, PassesOf(kind)});
  }
}

std::vector<Op> EndOf(const Program& program, const ProgramStage& stage) {
  std::vector<Occurrence> after;
  after.reserve(stage.after.size());
  for (const ModuleId id : stage.after) after.push_back({id, kForwardPasses});
  std::vector<Op> ops = WriteOps(program, MicroBatchEnds(), after);
  if (!ops.empty()) ops.insert(ops.begin(), {.kind = OpKind::kWaitAll});
  ops.push_back({.kind = OpKind::kWaitAll});
  return ops;
}

std::vector<Slot> SlotsOf(const Program& program, const PipelineShape& shape,
                          int64_t stage) {
  if (!program.forward_only()) {
    return SlotsOf(program.schedule(), shape, stage);
  }
  std::vector<Slot> slots;
  slots.reserve(static_cast<size_t>(shape.micro_batches));
  for (int32_t i = 0; i < shape.micro_batches; ++i) {
    slots.push_back({SlotKind::kForward, 0, i});
  }
  return slots;
}

bool WaitsForExperts(absl::Span<const Op> ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [](const Op& op) { return WaitsForExperts(op); });
}

std::vector<Op> SideBySide(absl::Span<const Op> first,
                           absl::Span<const Op> second) {
  return PairWriter(first, second).Write();
}

}  // namespace astra
