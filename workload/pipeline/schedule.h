// Pipeline schedules: in which order each stage of a pipeline runs the forward
// and backward work of its micro-batches.
//
// A stage holds one or more chunks of the model. A slot is the work of one
// micro-batch in one chunk: forward, backward, or one half of the backward: the
// gradient of the input, for which the stage before waits, and that of the
// weights, for which no other slot waits. A schedule is an order of slots for
// each stage and says nothing of time: a slot starts once the one before it on
// its stage has ended and what it needs has arrived. Forward needs the forward
// of the place before (see NextPlace); Backward and InputGradient need the
// forward of their own place and the gradient of the place after;
// WeightGradient needs the InputGradient of its place.
//
// With p stages, v chunks per stage, m micro-batches, and f, b, w for the times
// of a chunk's forward, input and weight gradient, no time for messages, and
// B = b + w, the bubble is the time of an iteration less the work of a stage:
// v m (f + B), in dualpipe m (f + B). Memory is counted in chunks of which the
// forward has run and the backward, with the weight gradient, has not.
//
//   schedule     bubble                   most memory of stage s
//   gpipe        (p - 1) (f + B)          m
//   1f1b         (p - 1) (f + B)          min(p - s, m)
//   interleaved  (p - 1) (f + B)          2 (p - s - 1) + (v - 1) p + 1; v m
//                                         with m = p
//   zb-h1        (p - 1) (f + b - w)      min(p, m)
//   zb-v         (p - 1) f                2 p
//   dualpipe     (p / 2 - 1) (f + b - w)  p + 1
//
// The first three whatever the times; zb-h1 if m >= p, w <= f and w <= b; zb-v
// if m >= 2 p - 1 and f = b = w; dualpipe if f = b and w <= f.

#ifndef WORKLOAD_PIPELINE_SCHEDULE_H_
#define WORKLOAD_PIPELINE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace astra {

enum class PipelineSchedule : uint8_t {
  kGPipe,
  k1F1B,
  kInterleaved,
  kZbH1,
  kZbV,
  kDualPipe,
  kSimai,
};

// The schedules that say when each stage runs which micro-batch, which is all
// but kSimai: SimAI's text describes one stage, which runs its layers once, and
// a formula adds the other stages (see astra-core/engine/pipeline.h).
constexpr PipelineSchedule kPipelineSchedules[] = {
    PipelineSchedule::kGPipe,       PipelineSchedule::k1F1B,
    PipelineSchedule::kInterleaved, PipelineSchedule::kZbH1,
    PipelineSchedule::kZbV,         PipelineSchedule::kDualPipe,
};

// "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe", "simai".
std::string_view Name(PipelineSchedule schedule);

// One of kPipelineSchedules, by its name as users type names: see IsNamed of
// astra-core/base/names.h.
// Errors: InvalidArgument, with the nearest name, if there is none.
absl::StatusOr<PipelineSchedule> FindSchedule(std::string_view name);

enum class SlotKind : uint8_t {
  kForward,
  kBackward,        // Both gradients in one.
  kInputGradient,   // Where the backward is in two halves.
  kWeightGradient,  // Comes after the kInputGradient of the same micro-batch.
};

struct Slot {
  SlotKind kind;
  int32_t chunk;
  int32_t micro_batch;

  bool operator==(const Slot&) const = default;
};
static_assert(sizeof(Slot) == 12);

struct PipelineShape {
  int64_t stages = 1;
  int64_t chunks = 1;  // Of each stage.
  int64_t micro_batches = 1;
};

// A chunk of a stage.
struct Place {
  int64_t stage;
  int64_t chunk;

  bool operator==(const Place&) const = default;
};

// Each size of a shape, and chunks x micro_batches, are at most this.
inline constexpr int64_t kMaxPipelineSize = int64_t{1} << 24;

// Errors: InvalidArgument, naming the rule, unless all sizes are from 1 to
// kMaxPipelineSize and there are, for
//   gpipe, 1f1b, zb-h1  1 chunk;
//   interleaved         2 or more chunks, 2 or more stages, and micro-batches
//                       that are a multiple of the stages;
//   zb-v                2 chunks;
//   dualpipe            2 chunks, an even number of stages and of
//                       micro-batches, and two or more for each stage;
//   simai               any.
absl::Status CheckShape(PipelineSchedule schedule, const PipelineShape& shape);

// What stage `stage` runs, in order. Each of its places runs each of its
// micro-batches once: one forward and after it one backward, or one input and
// then one weight gradient. Slots of one kind and chunk come in increasing
// order of their micro-batches, so that messages between two places are never
// overtaken.
//
// Requires: CheckShape is ok, `stage` is a stage.
std::vector<Slot> SlotsOf(PipelineSchedule schedule, const PipelineShape& shape,
                          int64_t stage);

// Where micro-batch `micro_batch` begins: stage 0, chunk 0. In dualpipe the
// micro-batches of the second half, from micro_batches / 2 on, begin at the
// other end: on the last stage, chunk 1.
//
// Requires: CheckShape is ok, `micro_batch` is one.
Place FirstPlace(PipelineSchedule schedule, const PipelineShape& shape,
                 int64_t micro_batch);

// Where a micro-batch goes after `place`; none at the end of the model.
//   interleaved  The next stage; from the last one the next chunk of stage 0.
//   zb-v         Down the stages in chunk 0, then up from the last in chunk 1.
//   dualpipe     Down the stages in chunk 0, or up in chunk 1. It passes one
//                chunk of each stage; all chunks together are two models.
//   others       The next stage.
//
// Requires: CheckShape is ok, `place` is a place.
std::optional<Place> NextPlace(PipelineSchedule schedule,
                               const PipelineShape& shape, Place place);

// How many micro-batches one repetition of the steady state has: p for
// interleaved, 2 for dualpipe (one each way), 1 for the others.
int64_t RepetitionMicroBatches(PipelineSchedule schedule,
                               const PipelineShape& shape);

// From how many micro-batches on a pipeline grows by repetitions alone. With u
// for RepetitionMicroBatches there are for each stage lists A, X, B, Y, C such
// that SlotsOf for SteadyFrom + n u micro-batches is, for all n >= 0,
//
//   A X ... X B            with n times X, or
//   A X ... X B Y ... Y C  with n times X and n times Y: gpipe
//
// in kinds and chunks; the k-th slot of a kind and chunk is always that of the
// k-th micro-batch there. The number of micro-batches in `shape` does not
// matter, and CheckShape accepts the result.
int64_t SteadyFrom(PipelineSchedule schedule, const PipelineShape& shape);

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_SCHEDULE_H_
