// How long a pipeline schedule takes, worked out apart from the simulator: each
// stage runs its slots in order, and messages take no time.

#ifndef TESTS_WORKLOAD_PIPELINE_PIPELINE_EVALUATION_H_
#define TESTS_WORKLOAD_PIPELINE_PIPELINE_EVALUATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace astra::testing {

// Of a chunk. A kBackward takes both gradients.
struct SlotTimes {
  int64_t forward = 1;
  int64_t input_gradient = 1;
  int64_t weight_gradient = 1;

  int64_t backward() const { return input_gradient + weight_gradient; }
};

struct StageTimes {
  int64_t start = 0;
  int64_t end = 0;
  int64_t busy = 0;
};

// What one stage runs: the slots of a piece start and end together.
using Pieces = std::vector<std::vector<Slot>>;

// By stage; none where the stages wait for one another without end.
std::optional<std::vector<StageTimes>> Evaluate(PipelineSchedule schedule,
                                                const PipelineShape& shape,
                                                const SlotTimes& times);
std::optional<std::vector<StageTimes>> EvaluatePieces(
    PipelineSchedule schedule, const PipelineShape& shape,
    const SlotTimes& times, const std::vector<Pieces>& pieces);

// When the last stage ends; -1 where there is no end.
int64_t Duration(PipelineSchedule schedule, const PipelineShape& shape,
                 const SlotTimes& times);
int64_t LastEnd(const std::optional<std::vector<StageTimes>>& stages);

// The most chunks at a time that `slots` have run forward and not yet to
// `end`, which is kInputGradient or kWeightGradient, backward.
int64_t PeakActivations(const std::vector<Slot>& slots, SlotKind end);

// Each slot as the first letter of its kind, its micro-batch and a prime for
// each chunk before its own: "F0 F1 F0' B0'".
std::string Text(const std::vector<Slot>& slots);

// All that CheckShape accepts of 1 to 8 stages, 1 to 4 chunks and 1 to 24
// micro-batches.
std::vector<PipelineShape> ShapesOf(PipelineSchedule schedule);

}  // namespace astra::testing

#endif  // TESTS_WORKLOAD_PIPELINE_PIPELINE_EVALUATION_H_
