// The functions that make up a pipeline schedule. Each schedule is in the file
// of its name; registry.h has the table.

#ifndef WORKLOAD_PIPELINE_SCHEDULE_RULES_H_
#define WORKLOAD_PIPELINE_SCHEDULE_RULES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "workload/pipeline/schedule.h"

namespace astra {

// Functions that several schedules share.

// Returns InvalidArgument "the number of WHAT is NUMBER: expected EXPECTED".
absl::Status WrongNumber(std::string_view what, int64_t number,
                         std::string_view expected);

// Accepts every shape.
absl::Status AnyShape(const PipelineShape& shape);

// Returns stage 0, chunk 0.
Place FirstStage(const PipelineShape& shape, int64_t micro_batch);

// Returns the next stage, in the same chunk; none after the last stage.
std::optional<Place> NextStage(const PipelineShape& shape, Place place);

// Returns 1 for every shape.
int64_t OneMicroBatch(const PipelineShape& shape);

// Returns as many micro-batches as there are stages.
int64_t OneForEachStage(const PipelineShape& shape);

// Returns `idle` / `work`, both in times of the same unit.
double BubbleShare(int64_t idle, int64_t work);

// Returns the share of the bubble (p - 1) (f + B).
double OneChunkOfOtherStages(const PipelineShape& shape);

// Implements the functions of schedule.h for one schedule. The functions of
// schedule.h pass on only arguments that meet their requirements. A schedule
// names the members in which it differs from the defaults.
struct ScheduleRules {
  ScheduleTraits traits;
  // Returns what is wrong with the shape, without the name of the schedule.
  // Requires that all sizes are from 1 to kMaxPipelineSize and that there are
  // as many chunks as the traits say.
  absl::Status (*check)(const PipelineShape& shape) = &AnyShape;
  std::vector<Slot> (*slots)(const PipelineShape& shape, int64_t stage);
  Place (*first)(const PipelineShape& shape, int64_t micro_batch) = &FirstStage;
  std::optional<Place> (*next)(const PipelineShape& shape,
                               Place place) = &NextStage;
  int64_t (*repetition)(const PipelineShape& shape) = &OneMicroBatch;
  int64_t (*steady_from)(const PipelineShape& shape) = &OneMicroBatch;
  double (*bubble)(const PipelineShape& shape) = &OneChunkOfOtherStages;
};

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_SCHEDULE_RULES_H_
