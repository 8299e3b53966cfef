// DualPipe: micro-batches enter at both ends. Stage s holds in chunk 0 the s-th
// part of the model and in chunk 1 the s-th part from the end, so that the
// whole model exists twice. Half of the micro-batches go down in chunk 0 and
// the others up in chunk 1. A stage runs the forward of one half beside the
// backward of the other: each can hide the communication of the other.
//
// Source: DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv 2412.19437,
// section 3.2.1 and table 2; the eight steps are those of
// github.com/deepseek-ai/DualPipe, dualpipe/dualpipe.py.
//
// In that code, a forward and the backward behind it are one piece of work in
// steps 4 and 5, except for the first in the two middle stages. With such
// pieces of time F&B = f + B, the bubble is (p / 2 - 1) (F&B + B - 3 w), exact
// if f = b and w <= f. Here they are pieces where they have something to hide
// (Slot::beside_next); otherwise they are successive slots. The next stage then
// gets the result of the first slot without waiting for the second, and the
// bubble is (p / 2 - 1) (f + b - w).

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "fmt/core.h"
#include "workload/pipeline/registry.h"
#include "workload/pipeline/stage_slots.h"

namespace astra {
namespace {

absl::Status Check(const PipelineShape& shape) {
  if (shape.stages % 2 != 0) {
    return WrongNumber("stages", shape.stages, "an even one");
  }
  if (shape.micro_batches % 2 != 0) {
    return WrongNumber("micro-batches", shape.micro_batches, "an even one");
  }
  if (shape.micro_batches < 2 * shape.stages) {
    return WrongNumber(
        "micro-batches", shape.micro_batches,
        fmt::format("{} or more, two for each stage", 2 * shape.stages));
  }
  return absl::OkStatus();
}

// The slots of a stage by direction: way 0 belongs to micro-batches that enter
// at the nearer end of the pipeline, way 1 to the others.
class BothWays {
 public:
  BothWays(const PipelineShape& shape, int64_t stage)
      : mirrored_(stage >= shape.stages / 2 ? 1 : 0),
        slots_({0, shape.micro_batches / 2}, shape.micro_batches / 2) {}

  void Forward(int64_t way) { slots_.Forward(way ^ mirrored_); }
  void Backward(int64_t way) { slots_.Backward(way ^ mirrored_); }
  void Pair(int64_t forward, int64_t backward) {
    slots_.Pair(forward ^ mirrored_, backward ^ mirrored_);
  }
  void InputGradient(int64_t way) {
    slots_.InputGradient(way ^ mirrored_);
    put_off_.push_back(way ^ mirrored_);
  }
  // Runs the weight gradient that has been put off longest.
  void WeightGradient() {
    slots_.WeightGradient(put_off_.front());
    put_off_.pop_front();
  }

  std::vector<Slot> Take() { return slots_.Take(); }

 private:
  int64_t mirrored_;
  StageSlots slots_;
  // Chunks with a weight gradient put off, oldest first.
  std::deque<int64_t> put_off_;
};

// Steps 1 to 3: forwards, and then the first backwards of one way.
void FillUp(int64_t outer, int64_t inner, BothWays& slots) {
  for (int64_t i = 0; i < 2 * inner; ++i) slots.Forward(0);
  for (int64_t i = 0; i < outer + 1; ++i) {
    slots.Forward(0);
    slots.Forward(1);
  }
  for (int64_t i = 0; i < inner; ++i) {
    slots.InputGradient(1);
    slots.WeightGradient();
    slots.Forward(1);
  }
}

// Steps 5 to 8: the forwards end. Of the backwards that remain, the latter half
// puts off its weight gradients, which fill the end.
void Drain(int64_t outer, int64_t inner, BothWays& slots) {
  for (int64_t i = 0; i < inner; ++i) {
    slots.Backward(1);
    slots.Pair(1, 0);
  }
  for (int64_t i = 0; i < 2 * (outer + 1); ++i) {
    const int64_t way = 1 - i % 2;
    if (i <= outer) {
      slots.Backward(way);
    } else {
      slots.InputGradient(way);
    }
  }
  for (int64_t i = 0; i < inner; ++i) {
    slots.WeightGradient();
    slots.InputGradient(0);
  }
  for (int64_t i = 0; i < outer + 1; ++i) slots.WeightGradient();
}

std::vector<Slot> Slots(const PipelineShape& shape, int64_t stage) {
  // Stages between this one and the nearer end, and between this one and the
  // middle.
  const int64_t outer = std::min(stage, shape.stages - 1 - stage);
  const int64_t inner = shape.stages / 2 - 1 - outer;
  BothWays slots(shape, stage);
  FillUp(outer, inner, slots);
  // Step 4 pairs forwards and backwards of both ways.
  const int64_t pairs = shape.micro_batches / 2 - shape.stages + outer + 1;
  for (int64_t i = 0; i < pairs; ++i) {
    if (inner == 0 && i == 0) {
      slots.Forward(0);
      slots.Backward(1);
    } else {
      slots.Pair(0, 1);
    }
    slots.Pair(1, 0);
  }
  Drain(outer, inner, slots);
  return slots.Take();
}

Place First(const PipelineShape& shape, int64_t micro_batch) {
  if (micro_batch < shape.micro_batches / 2) return {.stage = 0, .chunk = 0};
  return {.stage = shape.stages - 1, .chunk = 1};
}

std::optional<Place> Next(const PipelineShape& shape, Place place) {
  if (place.chunk == 0) return NextStage(shape, place);
  if (place.stage == 0) return std::nullopt;
  return Place{.stage = place.stage - 1, .chunk = 1};
}

int64_t Repetition(const PipelineShape& /*shape*/) { return 2; }

double Bubble(const PipelineShape& shape) {
  return BubbleShare(shape.stages / 2 - 1, 3 * shape.micro_batches);
}

int64_t SteadyFrom(const PipelineShape& shape) { return 2 * shape.stages; }

}  // namespace

const ScheduleRules& DualPipeRules() {
  static constexpr ScheduleRules kRules = {
      .traits = {.name = "dualpipe",
                 .chunks = 2,
                 .holds_model_twice = true,
                 .left_out = "the gradients of the two copies of each part are "
                             "not summed"},
      .check = &Check,
      .slots = &Slots,
      .first = &First,
      .next = &Next,
      .repetition = &Repetition,
      .steady_from = &SteadyFrom,
      .bubble = &Bubble,
  };
  return kRules;
}

}  // namespace astra
