#include "astra-core/engine/stage_program.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"

namespace astra {
namespace {

// What a rank runs of one module without turning to another.
struct Occurrence {
  ModuleId module;
  absl::Span<const ModulePass> passes;
};

constexpr ModulePass kForwardPasses[] = {ModulePass::kForward};
constexpr ModulePass kBackwardPasses[] = {ModulePass::kRecompute,
                                          ModulePass::kInputGradient,
                                          ModulePass::kWeightGradient};

// A recomputation counts with the forward phase.
Phase PhaseOf(ModulePass pass) {
  switch (pass) {
    case ModulePass::kForward:
    case ModulePass::kRecompute:
      return Phase::kForward;
    case ModulePass::kInputGradient:
      return Phase::kInputGradient;
    case ModulePass::kWeightGradient:
      return Phase::kWeightGradient;
  }
  ASTRA_CHECK(false, "pass {}", static_cast<int>(pass));
}

// Which micro-batch this is; it decides which steps run.
struct MicroBatch {
  bool is_first = true;
  bool is_last = true;

  bool Runs(const Step& step) const {
    return step.when == StepWhen::kEach ||
           (step.when == StepWhen::kFirst && is_first) ||
           (step.when == StepWhen::kLast && is_last);
  }
};

bool DoesNothing(const Step& step) {
  if (step.kind == StepKind::kWait) return false;
  return step.kind == StepKind::kCompute ? step.compute == TimePs(0)
                                         : step.communication.bytes == Bytes(0);
}

// Turns occurrences into operations.
//
// A prefetch starts in the occurrence with prefetches before its own, behind
// the prefetches that this one begins with. A lane is first in, first out: a
// call is done once no more calls are left on its lane than were made after it.
class OpWriter {
 public:
  OpWriter(const Program& program, MicroBatch micro_batch)
      : program_(program), micro_batch_(micro_batch) {}

  std::vector<Op> Write(absl::Span<const Occurrence> occurrences) {
    for (size_t i = 0; i < occurrences.size(); ++i) {
      WriteOne(occurrences[i], occurrences.subspan(i + 1));
    }
    return std::move(ops_);
  }

 private:
  // A step where it stands; `op` lacks its kind.
  struct Placed {
    StepKind kind;
    Op op;
  };
  // A prefetch that was started and not waited for.
  struct Started {
    size_t dimension = 0;
    uint32_t number = 0;  // How many calls of its lane came before it.
  };

  std::vector<Placed> StepsOf(const Occurrence& occurrence) const {
    std::vector<Placed> steps;
    const ProgramModule& module = program_.module(occurrence.module);
    for (const ModulePass pass : occurrence.passes) {
      for (const Step& step : module.passes[IndexOf(pass)]) {
        if (!micro_batch_.Runs(step) || DoesNothing(step)) continue;
        steps.push_back({step.kind,
                         {.phase = PhaseOf(pass),
                          .layer = LayerId(occurrence.module.index()),
                          .compute = step.compute,
                          .communication = step.communication}});
      }
    }
    return steps;
  }

  void WriteOne(const Occurrence& occurrence,
                absl::Span<const Occurrence> later) {
    const bool is_started = !started_.empty();
    bool has_fetched = false;
    bool is_next_started = false;
    for (const Placed& step : StepsOf(occurrence)) {
      if (step.kind == StepKind::kPrefetch) {
        has_fetched = true;
        if (is_started) {
          WaitForPrefetch(step.op);
        } else {
          Append(OpKind::kBlocking, step.op);
        }
        continue;
      }
      if (has_fetched && !is_next_started) {
        StartNext(later);
        is_next_started = true;
      }
      Append(OpKindOf(step.kind), step.op);
    }
    if (has_fetched && !is_next_started) StartNext(later);
  }

  static OpKind OpKindOf(StepKind kind) {
    switch (kind) {
      case StepKind::kCompute:
        return OpKind::kCompute;
      case StepKind::kBlocking:
        return OpKind::kBlocking;
      case StepKind::kLaunch:
        return OpKind::kLaunch;
      case StepKind::kWait:
        return OpKind::kWait;
      case StepKind::kPrefetch:
        break;
    }
    ASTRA_CHECK(false, "step kind {}", static_cast<int>(kind));
  }

  // Starts the prefetches of the first of `later` that has any.
  void StartNext(absl::Span<const Occurrence> later) {
    for (const Occurrence& occurrence : later) {
      for (const Placed& step : StepsOf(occurrence)) {
        if (step.kind != StepKind::kPrefetch) continue;
        const size_t dimension = IndexOf(step.op.communication.dimension);
        started_.push_back({dimension, num_calls_[dimension]});
        Append(OpKind::kLaunch, step.op);
      }
      if (!started_.empty()) return;
    }
  }

  void WaitForPrefetch(Op op) {
    const Started first = started_.front();
    started_.pop_front();
    op.outstanding = num_calls_[first.dimension] - first.number - 1;
    Append(OpKind::kWait, op);
  }

  void Append(OpKind kind, Op op) {
    op.kind = kind;
    if (kind == OpKind::kBlocking || kind == OpKind::kLaunch) {
      ++num_calls_[IndexOf(op.communication.dimension)];
    }
    ops_.push_back(op);
  }

  const Program& program_;
  MicroBatch micro_batch_;
  std::vector<Op> ops_;
  std::deque<Started> started_;
  std::array<uint32_t, kNumParallelDimensions> num_calls_{};  // By lane.
};

std::vector<Occurrence> OccurrencesOf(const Program& program,
                                      const ProgramStage& stage) {
  std::vector<Occurrence> occurrences;
  for (const ModuleRun& run : stage.runs) {
    for (int64_t i = 0; i < run.times; ++i) {
      for (const ModuleId id : run.modules) {
        occurrences.push_back({id, kForwardPasses});
      }
    }
  }
  if (program.forward_only()) return occurrences;
  for (size_t i = occurrences.size(); i-- > 0;) {
    occurrences.push_back({occurrences[i].module, kBackwardPasses});
  }
  return occurrences;
}

}  // namespace

StageProgram::StageProgram(const Program& program, const ProgramStage& stage) {
  const std::vector<Occurrence> occurrences = OccurrencesOf(program, stage);
  const int64_t count = program.sizes().micro_batches;
  const auto add = [&](MicroBatch micro_batch, int64_t repetitions) {
    if (repetitions < 1) return;
    std::vector<Op> ops = OpWriter(program, micro_batch).Write(occurrences);
    if (!sections_.empty() && sections_.back().ops == ops) {
      sections_.back().repetitions += repetitions;
    } else {
      sections_.push_back({std::move(ops), repetitions});
    }
  };
  add({.is_first = true, .is_last = count == 1}, 1);
  add({.is_first = false, .is_last = false}, count - 2);
  add({.is_first = false, .is_last = true}, count > 1 ? 1 : 0);

  std::vector<Occurrence> after;
  for (const ModuleId id : stage.after) after.push_back({id, kForwardPasses});
  end_ = OpWriter(program, MicroBatch()).Write(after);
  if (!end_.empty()) end_.insert(end_.begin(), {.kind = OpKind::kWaitAll});
  end_.push_back({.kind = OpKind::kWaitAll});
}

int64_t StageProgram::NumRun(const Section& section) const {
  return std::min(section.repetitions, limit_);
}

StageProgram::Skip StageProgram::skip() const {
  Skip skip;
  int64_t most = 0;
  int64_t num_run = 0;
  for (const Section& section : sections_) {
    num_run += NumRun(section);
    if (section.repetitions <= most) continue;
    most = section.repetitions;
    skip.stand_in = static_cast<size_t>(num_run - 1);
    skip.num_skipped = section.repetitions - NumRun(section);
  }
  return skip;
}

OpStream StageProgram::Begin() const {
  return [this, cursor = Cursor()]() mutable { return Next(cursor); };
}

Op StageProgram::Next(Cursor& cursor) const {
  if (cursor.section == sections_.size()) {
    return cursor.op < end_.size() ? end_[cursor.op++] : Op();
  }
  const Section& section = sections_[cursor.section];
  const int64_t num_run = NumRun(section);
  Op op = {.kind = OpKind::kRepetition};
  if (cursor.op < section.ops.size()) op = section.ops[cursor.op];
  if (cursor.repetition + 1 == num_run) {
    op.repeats = section.repetitions - num_run + 1;
  }
  if (cursor.op++ == section.ops.size()) {
    cursor.op = 0;
    if (++cursor.repetition == num_run) {
      cursor.repetition = 0;
      ++cursor.section;
    }
  }
  return op;
}

int64_t StageProgram::num_ops() const {
  const auto count = [](const std::vector<Op>& ops) {
    return std::count_if(ops.begin(), ops.end(), [](const Op& op) {
      return op.kind == OpKind::kCompute || op.kind == OpKind::kBlocking ||
             op.kind == OpKind::kLaunch;
    });
  };
  int64_t sum = count(end_);
  for (const Section& section : sections_) {
    sum += NumRun(section) * count(section.ops);
  }
  return sum;
}

}  // namespace astra
