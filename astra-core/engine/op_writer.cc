#include "astra-core/engine/op_writer.h"

#include <array>
#include <deque>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

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

bool Runs(const MicroBatchEnds& ends, const Step& step) {
  return step.when == StepWhen::kEach ||
         (step.when == StepWhen::kFirst && ends.is_first) ||
         (step.when == StepWhen::kLast && ends.is_last);
}

bool DoesNothing(const Step& step) {
  if (step.kind == StepKind::kWait) return false;
  return step.kind == StepKind::kCompute ? step.compute == TimePs(0)
                                         : step.communication.bytes == Bytes(0);
}

// Turns occurrences into operations.
//
// A prefetch starts in the previous occurrence that has prefetches, right
// behind that occurrence's own. A lane is first in, first out: a call is done
// once no more calls are left on its lane than were made after it.
class OpWriter {
 public:
  OpWriter(const Program& program, MicroBatchEnds ends)
      : program_(program), ends_(ends) {}

  // Records that `early` were started already, on each lane behind `before`
  // other calls.
  void StartEarly(absl::Span<const Op> early, CallCounts before) {
    for (const Op& op : early) {
      const size_t dimension = op.lane.index();
      started_.push_back({dimension, before[dimension]++, true});
    }
  }

  // Returns the prefetches of the first of `occurrences` that has any.
  std::vector<Op> FirstPrefetches(
      absl::Span<const Occurrence> occurrences) const {
    std::vector<Op> ops;
    for (const Occurrence& occurrence : occurrences) {
      for (const Placed& step : StepsOf(occurrence)) {
        if (step.kind != StepKind::kPrefetch) continue;
        ops.push_back(step.op);
        ops.back().kind = OpKind::kLaunch;
      }
      if (!ops.empty()) break;
    }
    return ops;
  }

  std::vector<Op> Write(absl::Span<const Occurrence> occurrences) {
    for (size_t i = 0; i < occurrences.size(); ++i) {
      WriteOne(occurrences[i], occurrences.subspan(i + 1));
    }
    return std::move(ops_);
  }

 private:
  // A step as an operation; op.kind is not set.
  struct Placed {
    StepKind kind;
    Op op;
  };
  // A prefetch that was started and not yet waited for.
  struct Started {
    size_t dimension = 0;
    uint32_t number = 0;  // Calls of its lane before it.
    // Whether `number` counts all calls instead of those written here.
    bool is_early = false;
  };

  std::vector<Placed> StepsOf(const Occurrence& occurrence) const {
    std::vector<Placed> steps;
    const ProgramModule& module = program_.module(occurrence.module);
    for (const ModulePass pass : occurrence.passes) {
      for (const Step& step : module.passes[IndexOf(pass)]) {
        if (!Runs(ends_, step) || DoesNothing(step)) continue;
        steps.push_back({step.kind,
                         {.phase = PhaseOf(pass),
                          .layer = LayerId(occurrence.module.index()),
                          .lane = LaneOf(step.communication.dimension),
                          .compute = step.compute,
                          .communication = step.communication,
                          .update = module.update}});
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

  void StartNext(absl::Span<const Occurrence> later) {
    for (const Op& op : FirstPrefetches(later)) {
      const size_t dimension = op.lane.index();
      started_.push_back({dimension, num_calls_[dimension], false});
      Append(OpKind::kLaunch, op);
    }
  }

  void WaitForPrefetch(Op op) {
    const Started first = started_.front();
    started_.pop_front();
    if (first.is_early) {
      op.ended = first.number + 1;
    } else {
      op.outstanding = num_calls_[first.dimension] - first.number - 1;
    }
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
  MicroBatchEnds ends_;
  std::vector<Op> ops_;
  std::deque<Started> started_;
  CallCounts num_calls_{};
};

}  // namespace

std::vector<Op> WriteOps(const Program& program, MicroBatchEnds ends,
                         absl::Span<const Occurrence> occurrences) {
  return OpWriter(program, ends).Write(occurrences);
}

std::vector<Op> FirstPrefetches(const Program& program, MicroBatchEnds ends,
                                absl::Span<const Occurrence> occurrences) {
  return OpWriter(program, ends).FirstPrefetches(occurrences);
}

std::vector<Op> WriteOpsBehindPrefetches(
    const Program& program, MicroBatchEnds ends,
    absl::Span<const Occurrence> occurrences, absl::Span<const Op> early,
    const CallCounts& before) {
  OpWriter writer(program, ends);
  writer.StartEarly(early, before);
  return writer.Write(occurrences);
}

}  // namespace astra
