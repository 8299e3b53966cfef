#include <algorithm>
#include <cstdint>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/workload/pipeline/pipeline_evaluation.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

using ::astra::testing::Duration;
using ::astra::testing::Evaluate;
using ::astra::testing::PeakActivations;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::ShapesOf;
using ::astra::testing::StageTimes;
using ::astra::testing::Text;

PipelineSchedule Schedule() { return ScheduleNamed("zb-v"); }

// By hand. In units of one slot stage 0 begins at 0 and stage 1 at 1; what each
// slot needs has then just ended or ended before.
TEST(ZbVTest, ReturnsOnTheStagesItCameBy) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 3}, 0)),
            "F0 F1 F2 F0' I0' W0' F1' I1' W1' I0 W0 F2' I2' W2' I1 W1 I2 W2");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 3}, 1)),
            "F0 F0' F1 F1' I0' W0' F2 I0 W0 F2' I1' W1' I1 I2' I2 W1 W2' W2");
}

TEST(ZbVTest, LeavesOutMicroBatchesThatAreMissing) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 1}, 0)), "F0 F0' I0' W0' I0 W0");
}

// arXiv 2401.10241, section 6: zero bubble if all times are equal. A stage has
// 6 m units of work; stage s can begin s units after the first.
TEST(ZbVTest, NeverWaitsIfAllTimesAreEqual) {
  for (const int64_t unit : {1, 7}) {
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      if (shape.micro_batches < 2 * shape.stages - 1) continue;
      const auto stages = Evaluate(Schedule(), shape, {unit, unit, unit});
      ASSERT_TRUE(stages);
      for (int64_t s = 0; s < shape.stages; ++s) {
        const StageTimes& stage = (*stages)[static_cast<size_t>(s)];
        EXPECT_EQ(stage.start, s * unit);
        EXPECT_EQ(stage.end, (s + 6 * shape.micro_batches) * unit);
      }
    }
  }
}

// The first micro-batch alone goes 2 p times forward and back: 4 p units, and
// the weight gradients of stage 0 cannot be before the last of those.
TEST(ZbVTest, TakesTheTimeOfTheWayForASingleMicroBatch) {
  EXPECT_EQ(Duration(Schedule(), {4, 2, 1}, {}), 4 * 4 + 2);
}

// Chunks of half the size: as 1F1B.
TEST(ZbVTest, HoldsTwoChunksForEachStage) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const int64_t peak = PeakActivations(SlotsOf(Schedule(), shape, stage),
                                           SlotKind::kWeightGradient);
      EXPECT_LE(peak, std::min(2 * shape.stages, 2 * shape.micro_batches));
      if (shape.micro_batches >= 2 * shape.stages - 1) {
        EXPECT_EQ(peak, 2 * shape.stages);
      }
    }
  }
}

}  // namespace
}  // namespace astra
