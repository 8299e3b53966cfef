// Pipeline schedules: the order in which each stage of a pipeline runs the
// forward and backward work of its micro-batches.
//
// A stage holds one or more chunks of the model. A slot is the work of one
// micro-batch in one chunk: the forward, the backward, or one half of the
// backward. The halves are the gradient of the input, for which the previous
// stage waits, and the gradient of the weights, for which no slot waits. A
// schedule orders the slots of each stage and does not tell times: a slot
// starts once the slot before it on its stage has ended and its inputs have
// arrived. These inputs are
//
//   Forward                  the Forward of the place before (see NextPlace)
//   Backward, InputGradient  the Forward of the same place and the gradient of
//                            the place after
//   WeightGradient           the InputGradient of the same place
//
// The table uses p stages, v chunks per stage, m micro-batches, and f, b and w
// for the times of a chunk's forward, input gradient and weight gradient, with
// B = b + w. Messages take no time. The bubble is the time of an iteration less
// the work of a stage, which is v m (f + B), in dualpipe m (f + B). Memory
// counts the chunks whose forward has run and whose backward, with the weight
// gradient, has not.
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
// The first three rows hold for all times. The others have conditions:
//
//   zb-h1     m >= p, w <= f and w <= b
//   zb-v      m >= 2 p - 1 and f = b = w
//   dualpipe  f = b and w <= f; slots side by side (Slot::beside_next) that are
//             one piece make it (p / 2 - 1) (f + 2 b - w)

#ifndef WORKLOAD_PIPELINE_SCHEDULE_H_
#define WORKLOAD_PIPELINE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace astra {

// Properties of a schedule, for code that need not know which schedule it has.
struct ScheduleTraits {
  std::string_view name;
  // The chunks that every stage must have; 0: the user chooses their number.
  int64_t chunks = 1;
  // Whether a run simulates the stages of the pipeline and the messages between
  // them. Otherwise it simulates one stage, which runs its modules once in an
  // iteration, and a formula adds the other stages.
  bool simulates_stages = true;
  // Whether memory and events stop growing with the micro-batches; see
  // SteadyFrom.
  bool has_steady_state = true;
  // Whether micro-batches go through the stages in groups of one for each
  // stage, once for each chunk, so that the chunks of a stage must be equal.
  bool has_virtual_stages = false;
  // Whether all chunks together are two models. A micro-batch then passes one
  // chunk of each stage.
  bool holds_model_twice = false;
  // Names the cost that times of a generated program leave out; empty: none.
  std::string_view left_out = "";
};

struct ScheduleRules;  // See schedule_rules.h.

// One of the schedules of registry.h.
class PipelineSchedule {
 public:
  explicit constexpr PipelineSchedule(const ScheduleRules& rules)
      : rules_(&rules) {}

  const ScheduleRules& rules() const { return *rules_; }
  const ScheduleTraits* operator->() const;

  friend bool operator==(PipelineSchedule, PipelineSchedule) = default;

 private:
  const ScheduleRules* rules_;
};

// Returns the schedules that a user may choose, which are those that simulate
// stages, in the order in which lists name them.
std::vector<PipelineSchedule> PipelineSchedules();

// Returns the default schedule: 1F1B, or interleaved where a stage has several
// chunks.
PipelineSchedule DefaultSchedule(int64_t chunks);

// Returns the schedule of SimAI's text, which users cannot choose: the text
// describes one stage, which runs its layers once, and a formula adds the other
// stages (see astra-core/engine/pipeline.h).
PipelineSchedule SimaiSchedule();

std::string_view Name(PipelineSchedule schedule);

// Finds one of PipelineSchedules() by name, as IsNamed of
// astra-core/base/names.h compares names. Errors: InvalidArgument, with the
// nearest name, for an unknown name.
absl::StatusOr<PipelineSchedule> FindSchedule(std::string_view name);

enum class SlotKind : uint8_t {
  kForward,
  kBackward,        // Both gradients together.
  kInputGradient,   // First half of a backward in two halves.
  kWeightGradient,  // Second half; follows the first half.
};

std::string_view Name(SlotKind kind);  // "forward", "backward", ...

struct Slot {
  SlotKind kind;
  int32_t chunk;
  int32_t micro_batch;
  // Whether this forward and the backward slot behind it, of another chunk, may
  // run as one piece, in which each computes while the other exchanges tokens
  // with experts. A piece waits for the inputs of both slots, and the results
  // of both go on at its end.
  bool beside_next = false;

  bool operator==(const Slot&) const = default;
};
static_assert(sizeof(Slot) == 16);

struct PipelineShape {
  int64_t stages = 1;
  int64_t chunks = 1;  // Chunks of each stage.
  int64_t micro_batches = 1;
};

// One chunk of one stage.
struct Place {
  int64_t stage;
  int64_t chunk;

  bool operator==(const Place&) const = default;
};

// Limit for each size of a shape, and for chunks x micro_batches.
inline constexpr int64_t kMaxPipelineSize = int64_t{1} << 24;

// Checks that all sizes are from 1 to kMaxPipelineSize. A schedule also
// requires, with InvalidArgument naming the rule otherwise:
//
//   gpipe, 1f1b, zb-h1  1 chunk;
//   interleaved         2 or more chunks, 2 or more stages, and micro-batches
//                       that are a multiple of the stages;
//   zb-v                2 chunks;
//   dualpipe            2 chunks, an even number of stages and of
//                       micro-batches, and two or more for each stage;
//   simai               any.
absl::Status CheckShape(PipelineSchedule schedule, const PipelineShape& shape);

// Returns the slots of stage `stage`, in order. Each of its chunks runs each of
// its micro-batches once: one forward and then one backward, or one input
// gradient and then one weight gradient. Slots of one kind and chunk have
// increasing micro-batches, so that messages between two places never overtake
// each other.
//
// Requires: CheckShape is ok, and 0 <= stage < shape.stages.
std::vector<Slot> SlotsOf(PipelineSchedule schedule, const PipelineShape& shape,
                          int64_t stage);

// Returns where micro-batch `micro_batch` begins: on stage 0, chunk 0. In
// dualpipe the second half of the micro-batches, from micro_batches / 2 on,
// begins at the other end: on the last stage, chunk 1.
//
// Requires: CheckShape is ok, and 0 <= micro_batch < shape.micro_batches.
Place FirstPlace(PipelineSchedule schedule, const PipelineShape& shape,
                 int64_t micro_batch);

// Returns where a micro-batch goes after `place`, or none at the end of the
// model:
//
//   interleaved  the next stage; after the last one, the next chunk of stage 0
//   zb-v         down the stages in chunk 0, then up from the last in chunk 1
//   dualpipe     down the stages in chunk 0, or up in chunk 1: it passes one
//                chunk of each stage, and all chunks together are two models
//   others       the next stage
//
// Requires: CheckShape is ok, and `place` exists in `shape`.
std::optional<Place> NextPlace(PipelineSchedule schedule,
                               const PipelineShape& shape, Place place);

// Returns how many micro-batches one repetition of the steady state has: p for
// interleaved, 2 for dualpipe (one each way), 1 for the others.
int64_t RepetitionMicroBatches(PipelineSchedule schedule,
                               const PipelineShape& shape);

// Returns the bubble of the table above as a share of the work of a stage, with
// f = b = w.
double IdealBubbleShare(PipelineSchedule schedule, const PipelineShape& shape);

// Returns the number of micro-batches from which on a pipeline grows by
// repetitions alone. With u = RepetitionMicroBatches, each stage has lists A,
// X, B, Y, C such that SlotsOf for SteadyFrom + n u micro-batches is, for all n
// >= 0,
//
//   A X ... X B            with n times X, or
//   A X ... X B Y ... Y C  with n times X and n times Y, without
//                          has_steady_state: gpipe
//
// in kinds and chunks. The k-th slot of a kind and chunk is always that of the
// k-th micro-batch there. The result does not depend on the number of
// micro-batches in `shape`, and CheckShape accepts it.
int64_t SteadyFrom(PipelineSchedule schedule, const PipelineShape& shape);

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_SCHEDULE_H_
