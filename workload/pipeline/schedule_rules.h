// The functions that make up a pipeline schedule. Each schedule is in the file
// of its name; registry.cc has the table.

#ifndef WORKLOAD_PIPELINE_SCHEDULE_RULES_H_
#define WORKLOAD_PIPELINE_SCHEDULE_RULES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "workload/pipeline/schedule.h"

namespace astra {

// Implements the functions of schedule.h for one schedule. They call these
// functions only with arguments that meet their requirements.
struct ScheduleRules {
  PipelineSchedule schedule;
  std::string_view name;
  // Returns what is wrong with the shape, without the name of the schedule.
  // Requires that all sizes are from 1 to kMaxPipelineSize.
  absl::Status (*check)(const PipelineShape& shape);
  std::vector<Slot> (*slots)(const PipelineShape& shape, int64_t stage);
  Place (*first)(const PipelineShape& shape, int64_t micro_batch);
  std::optional<Place> (*next)(const PipelineShape& shape, Place place);
  int64_t (*repetition)(const PipelineShape& shape);
  int64_t (*steady_from)(const PipelineShape& shape);
  bool simulates_stages = true;
};

ScheduleRules GPipeRules();
ScheduleRules OneFOneBRules();
ScheduleRules InterleavedRules();
ScheduleRules ZbH1Rules();
ScheduleRules ZbVRules();
ScheduleRules DualPipeRules();
ScheduleRules SimaiRules();

// Functions that several schedules share.

// Returns InvalidArgument "the number of WHAT is NUMBER: expected EXPECTED".
absl::Status WrongNumber(std::string_view what, int64_t number,
                         std::string_view expected);

// Errors: InvalidArgument unless a stage has `chunks` chunks.
absl::Status CheckChunks(const PipelineShape& shape, int64_t chunks);
absl::Status CheckOneChunk(const PipelineShape& shape);
absl::Status CheckTwoChunks(const PipelineShape& shape);

// Returns stage 0, chunk 0.
Place FirstStage(const PipelineShape& shape, int64_t micro_batch);

// Returns the next stage, in the same chunk; none after the last stage.
std::optional<Place> NextStage(const PipelineShape& shape, Place place);

// Returns 1 for every shape.
int64_t OneMicroBatch(const PipelineShape& shape);

}  // namespace astra

#endif  // WORKLOAD_PIPELINE_SCHEDULE_RULES_H_
