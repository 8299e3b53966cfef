#include <cstdint>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/workload/pipeline/pipeline_evaluation.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

using ::astra::testing::Duration;
using ::astra::testing::EvaluatePieces;
using ::astra::testing::LastEnd;
using ::astra::testing::PeakActivations;
using ::astra::testing::Pieces;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::ShapesOf;
using ::astra::testing::SlotTimes;
using ::astra::testing::Text;

PipelineSchedule Schedule() { return ScheduleNamed("dualpipe"); }

// By hand from the eight steps: 2, 4, 6 and 8.
TEST(DualPipeTest, MirrorsTheStagesOfTheOtherHalf) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 4}, 0)),
            "F0 F2' F1 B2' F3' B0 B3' I1 W1");
  EXPECT_EQ(Text(SlotsOf(Schedule(), {2, 2, 4}, 1)),
            "F2' F0 F3' B0 F1 B2' B1 I3' W3'");
}

// By hand, with steps 1, 3, 5 and 7, which only stages apart from the middle
// have. In step 6 the latter of two backwards puts off its weight gradient.
TEST(DualPipeTest, RunsAheadAtTheEnds) {
  EXPECT_EQ(Text(SlotsOf(Schedule(), {4, 2, 8}, 0)),
            "F0 F1 F2 F4' I4' W4' F5' F3 B5' F6' B0 B6' F7' B1 B7' I2 W2 I3 "
            "W3");
}

TEST(DualPipeTest, BeginsAtBothEnds) {
  const PipelineShape shape = {4, 2, 8};
  EXPECT_EQ(FirstPlace(Schedule(), shape, 3), (Place{0, 0}));
  EXPECT_EQ(FirstPlace(Schedule(), shape, 4), (Place{3, 1}));
}

// The slots of a stage, with pairs as one piece.
Pieces PairUp(const PipelineShape& shape, int64_t stage) {
  Pieces pieces;
  bool goes_on = false;
  for (const Slot& slot : SlotsOf(Schedule(), shape, stage)) {
    if (!goes_on) pieces.emplace_back();
    pieces.back().push_back(slot);
    goes_on = slot.beside_next;
  }
  return pieces;
}

// All forwards with a full backward behind them, but for the first of the
// stages in the middle.
TEST(DualPipeTest, ForwardsAndTheBackwardsBehindThemArePairs) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const std::vector<Slot> slots = SlotsOf(Schedule(), shape, stage);
      const bool in_the_middle =
          stage == shape.stages / 2 - 1 || stage == shape.stages / 2;
      int64_t apart = in_the_middle ? 1 : 0;
      for (size_t i = 0; i + 1 < slots.size(); ++i) {
        const bool together = slots[i].kind == SlotKind::kForward &&
                              slots[i + 1].kind == SlotKind::kBackward;
        EXPECT_EQ(slots[i].beside_next, together && apart-- <= 0);
        if (slots[i].beside_next) {
          EXPECT_NE(slots[i].chunk, slots[i + 1].chunk);
        }
      }
      EXPECT_FALSE(slots.back().beside_next);
    }
  }
}

// Forward and input gradient take the same time; see dualpipe.cc.
constexpr SlotTimes kTimes[] = {{1, 1, 1}, {2, 2, 1}, {5, 5, 3}};

// arXiv 2412.19437, table 2: (PP / 2 - 1)(F&B + B - 3 W).
TEST(DualPipeTest, HasTheBubbleOfItsPaperWithPairsAsOnePiece) {
  for (const SlotTimes& times : kTimes) {
    const int64_t backward = times.backward();
    const int64_t both = times.forward + backward;
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      std::vector<Pieces> pieces;
      for (int64_t stage = 0; stage < shape.stages; ++stage) {
        pieces.push_back(PairUp(shape, stage));
      }
      EXPECT_EQ(LastEnd(EvaluatePieces(Schedule(), shape, times, pieces)),
                shape.micro_batches * both +
                    (shape.stages / 2 - 1) *
                        (both + backward - 3 * times.weight_gradient));
    }
  }
}

TEST(DualPipeTest, HasASmallerBubbleSlotBySlot) {
  for (const SlotTimes& times : kTimes) {
    for (const PipelineShape& shape : ShapesOf(Schedule())) {
      EXPECT_EQ(
          Duration(Schedule(), shape, times),
          shape.micro_batches * (times.forward + times.backward()) +
              (shape.stages / 2 - 1) * (times.forward + times.input_gradient -
                                        times.weight_gradient));
    }
  }
}

// arXiv 2412.19437, table 2: PP + 1.
TEST(DualPipeTest, HoldsOneMicroBatchMoreThanThereAreStages) {
  for (const PipelineShape& shape : ShapesOf(Schedule())) {
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      EXPECT_EQ(PeakActivations(SlotsOf(Schedule(), shape, stage),
                                SlotKind::kWeightGradient),
                shape.stages + 1);
    }
  }
}

}  // namespace
}  // namespace astra
