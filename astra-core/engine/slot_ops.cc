#include "astra-core/engine/slot_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

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
  if (op.kind == OpKind::kWait) {
    return op.lane == LaneOf(ParallelDimension::kExpert);
  }
  return op.kind == OpKind::kBlocking && CarriesTokens(op.communication);
}

// Returns how long the operations compute before they first wait for experts.
TimePs ComputeBeforeWait(absl::Span<const Op> ops) {
  TimePs sum;
  for (const Op& op : ops) {
    if (WaitsForExperts(op)) break;
    sum += op.compute;
  }
  return sum;
}

// Takes operations from two lists in turn.
class PairWriter {
 public:
  PairWriter(absl::Span<const Op> first, absl::Span<const Op> second) {
    halves_[0].ops = first;
    halves_[1].ops = second;
  }

  std::vector<Op> Write() {
    // The half that exchanges tokens sooner is first, so that its first
    // exchange runs beside the longer computation.
    size_t turn =
        ComputeBeforeWait(halves_[1].ops) < ComputeBeforeWait(halves_[0].ops)
            ? 1
            : 0;
    for (; !IsDone(0) || !IsDone(1); turn = 1 - turn) Take(turn);
    return std::move(ops_);
  }

 private:
  struct Half {
    absl::Span<const Op> ops;
    size_t next = 0;
    std::optional<Op> awaited;  // The wait at which it let the other go on.
    // Number of calls of both halves before each of its calls, by lane.
    std::array<std::vector<uint32_t>, kNumParallelDimensions> calls;
  };

  bool IsDone(size_t turn) const {
    const Half& half = halves_[turn];
    return half.next == half.ops.size() && !half.awaited;
  }

  // Ends what the half waits for, and goes on to its next wait.
  void Take(size_t turn) {
    Half& half = halves_[turn];
    if (half.awaited) Add(turn, *std::exchange(half.awaited, std::nullopt));
    while (half.next < half.ops.size()) {
      Op op = half.ops[half.next++];
      if (!WaitsForExperts(op) || IsDone(1 - turn)) {
        Add(turn, op);
        continue;
      }
      if (op.kind == OpKind::kBlocking) {
        op.kind = OpKind::kLaunch;
        Add(turn, op);
        op.kind = OpKind::kWait;
      }
      half.awaited = op;
      return;
    }
  }

  void Add(size_t turn, Op op) {
    op.chunk = static_cast<int32_t>(turn);
    if (op.kind == OpKind::kBlocking || op.kind == OpKind::kLaunch) {
      halves_[turn].calls[op.lane.index()].push_back(
          num_calls_[op.lane.index()]++);
    } else if (op.kind == OpKind::kWait && op.ended == 0) {
      op.outstanding = Outstanding(turn, op);
    }
    ops_.push_back(op);
  }

  // Returns how many calls may be left for a wait that counts the calls of its
  // half alone. A lane is first in, first out, so the calls that the other half
  // made later may be left, too.
  uint32_t Outstanding(size_t turn, const Op& wait) const {
    const std::vector<uint32_t>& own = halves_[turn].calls[wait.lane.index()];
    const uint32_t all = num_calls_[wait.lane.index()];
    const auto num_own = static_cast<uint32_t>(own.size());
    // The wait is for a call that was made before the pair began.
    if (wait.outstanding >= num_own) return all + wait.outstanding - num_own;
    return all - own[num_own - 1 - wait.outstanding] - 1;
  }

  std::array<Half, 2> halves_;
  CallCounts num_calls_{};
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
