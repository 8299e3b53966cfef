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

PipelineSchedule Schedule() { return ScheduleNamed("zb-h1"); }

TEST(ZbH1Test, PutsWeightGradientsOffByTheNumberOfTheStage) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 3}, 0)),
            "F0 F1 F2 I0 W0 I1 W1 I2 W2");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 3}, 1)),
            "F0 F1 I0 F2 I1 W0 I2 W1 W2");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {3, 1, 3}, 2)),
            "F0 I0 F1 I1 F2 I2 W0 W1 W2");
}

// arXiv 2401.10241, section 2: the bubble is (p - 1)(T_F + T_B - T_W), with as
// many micro-batches as stages or more. With fewer, stage 0 has no more weight
// gradients to fill what it waits.
TEST(ZbH1Test, FillsTheBubbleWithWeightGradientsThatAreTheShortest) {
  for (const SlotTimes& times :
       {SlotTimes{1, 1, 1}, SlotTimes{2, 3, 1}, SlotTimes{3, 4, 3}}) {
    const int64_t f = times.forward;
    const int64_t b = times.input_gradient;
    const int64_t w = times.weight_gradient;
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      const int64_t missing =
          std::max(int64_t{0}, shape.stages - shape.micro_batches);
      EXPECT_EQ(Duration(Schedule(), shape, times),
                shape.micro_batches * (f + b + w) +
                    (shape.stages - 1) * (f + b - w) + missing * w);
    }
  }
}

TEST(ZbH1Test, HoldsAsMuchAsTheFirstStageOf1F1B) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const auto slots = SlotsOf(Schedule(), shape, stage);
      EXPECT_EQ(PeakActivations(slots, SlotKind::kWeightGradient),
                std::min(shape.stages, shape.micro_batches));
      EXPECT_EQ(PeakActivations(slots, SlotKind::kInputGradient),
                std::min(shape.stages - stage, shape.micro_batches));
    }
  }
}

}  // namespace
}  // namespace astra
