#include <algorithm>
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

PipelineSchedule Schedule() { return ScheduleNamed("1f1b"); }

// As in figure 4 of Narayanan et al., SC 2021, with fewer stages.
TEST(OneFOneBTest, AlternatesOnceTheFirstGradientHasCome) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 4}, 0)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 4}, 1)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 4}, 2)), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(OneFOneBTest, RunsAllForwardsFirstWhereThereAreFewerThanStages) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {4, 1, 2}, 0)), "F0 F1 B0 B1");
}

// Narayanan et al., section 2.2.1: as long as GPipe.
TEST(OneFOneBTest, WaitsForAllOtherStagesOnce) {
  for (const SlotTimes& times : {SlotTimes{1, 1, 1}, SlotTimes{5, 2, 1}}) {
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      EXPECT_EQ(Duration(Schedule(), shape, times),
                (shape.micro_batches + shape.stages - 1) *
                    (times.forward + times.backward()));
    }
  }
}

TEST(OneFOneBTest, HoldsAMicroBatchForEachStageToTheEnd) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      EXPECT_EQ(PeakActivations(SlotsOf(Schedule(), shape, stage),
                                SlotKind::kWeightGradient),
                std::min(shape.stages - stage, shape.micro_batches));
    }
  }
}

}  // namespace
}  // namespace astra
