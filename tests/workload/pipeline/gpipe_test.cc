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

PipelineSchedule Schedule() { return ScheduleNamed("gpipe"); }

TEST(GPipeTest, RunsAllForwardsFirst) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {4, 1, 3}, 1)), "F0 F1 F2 B0 B1 B2");
}

// arXiv 1811.06965, section 2.3.
TEST(GPipeTest, WaitsForAllOtherStagesOnce) {
  for (const SlotTimes& times : {SlotTimes{1, 1, 1}, SlotTimes{5, 2, 1}}) {
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      EXPECT_EQ(Duration(Schedule(), shape, times),
                (shape.micro_batches + shape.stages - 1) *
                    (times.forward + times.backward()));
    }
  }
}

TEST(GPipeTest, HoldsAllMicroBatches) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      EXPECT_EQ(PeakActivations(SlotsOf(Schedule(), shape, stage),
                                SlotKind::kWeightGradient),
                shape.micro_batches);
    }
  }
}

}  // namespace
}  // namespace astra
