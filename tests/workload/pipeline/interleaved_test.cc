#include <cstdint>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/workload/pipeline/pipeline_evaluation.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

using ::astra::testing::Duration;
using ::astra::testing::PeakActivations;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::ShapesOf;
using ::astra::testing::SlotTimes;
using ::astra::testing::Text;

PipelineSchedule Schedule() { return ScheduleNamed("interleaved"); }

// By hand: 2 (2 - s - 1) + 2 forwards ahead.
TEST(InterleavedTest, GoesThroughTheChunksInGroupsOfMicroBatches) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 4}, 0)),
            "F0 F1 F0' F1' F2 B0' F3 B1' F2' B0 F3' B1 B2' B3' B2 B3");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 4}, 1)),
            "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3");
}

TEST(InterleavedTest, RunsAllForwardsFirstWhereThereIsOneGroup) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 2}, 1)),
            "F0 F1 F0' F1' B0' B1' B0 B1");
}

// Narayanan et al., SC 2021, section 2.2.2: the bubble is in times of a chunk.
TEST(InterleavedTest, WaitsForOneChunkOfAllOtherStagesOnce) {
  for (const SlotTimes& times : {SlotTimes{1, 1, 1}, SlotTimes{5, 2, 1}}) {
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      EXPECT_EQ(Duration(Schedule(), shape, times),
                (shape.micro_batches * shape.chunks + shape.stages - 1) *
                    (times.forward + times.backward()));
    }
  }
}

// Megatron-LM, num_warmup_microbatches, and one more in the steady state.
TEST(InterleavedTest, HoldsWhatItRunsAheadAndOneMore) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    const int64_t all = shape.chunks * shape.micro_batches;
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const int64_t ahead =
          2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.stages;
      EXPECT_EQ(PeakActivations(SlotsOf(Schedule(), shape, stage),
                                SlotKind::kWeightGradient),
                shape.micro_batches == shape.stages ? all : ahead + 1);
    }
  }
}

}  // namespace
}  // namespace astra
