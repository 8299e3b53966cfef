#include "workload/pipeline/schedule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/workload/pipeline/pipeline_evaluation.h"

namespace astra {
namespace {

using ::astra::testing::Evaluate;
using ::astra::testing::ScheduleList;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::ShapesOf;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using enum SlotKind;

std::string ToText(const PipelineShape& shape) {
  return fmt::format("{} stages, {} chunks, {} micro-batches", shape.stages,
                     shape.chunks, shape.micro_batches);
}

// The contract that every schedule keeps.
class ScheduleTest : public ::testing::TestWithParam<PipelineSchedule> {};

// The kinds of the slots of a micro-batch at a place, in order.
using KindsOf =
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<SlotKind>>;

KindsOf KindsByPlace(PipelineSchedule schedule, const PipelineShape& shape) {
  KindsOf kinds;
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    for (const Slot& slot : SlotsOf(schedule, shape, stage)) {
      kinds[{stage, slot.chunk, slot.micro_batch}].push_back(slot.kind);
    }
  }
  return kinds;
}

TEST_P(ScheduleTest, RunsEachMicroBatchOnceAtEachPlaceOnItsWay) {
  const std::vector<SlotKind> whole = {kForward, kBackward};
  const std::vector<SlotKind> halves = {kForward, kInputGradient,
                                        kWeightGradient};
  for (const PipelineShape& shape : ShapesOf(GetParam())) {
    SCOPED_TRACE(ToText(shape));
    KindsOf kinds = KindsByPlace(GetParam(), shape);
    for (int64_t i = 0; i < shape.micro_batches; ++i) {
      std::optional<Place> place = FirstPlace(GetParam(), shape, i);
      int64_t length = 0;
      for (; place; place = NextPlace(GetParam(), shape, *place)) {
        ++length;
        const auto found = kinds.extract({place->stage, place->chunk, i});
        ASSERT_FALSE(found.empty());
        EXPECT_TRUE(found.mapped() == whole || found.mapped() == halves);
      }
      const int64_t models = GetParam()->holds_model_twice ? 2 : 1;
      EXPECT_EQ(length, shape.stages * shape.chunks / models);
    }
    EXPECT_TRUE(kinds.empty());
  }
}

TEST_P(ScheduleTest, RunsTheMicroBatchesOfAKindAndChunkInOrder) {
  for (const PipelineShape& shape : ShapesOf(GetParam())) {
    SCOPED_TRACE(ToText(shape));
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      std::map<std::pair<SlotKind, int32_t>, int32_t> last;
      const auto expect_next = [&last](SlotKind kind, const Slot& slot) {
        const auto [entry, first] =
            last.try_emplace({kind, slot.chunk}, slot.micro_batch);
        EXPECT_EQ(slot.micro_batch, first ? entry->second : ++entry->second);
      };
      for (const Slot& slot : SlotsOf(GetParam(), shape, stage)) {
        if (slot.kind == kBackward) {
          expect_next(kInputGradient, slot);
          expect_next(kWeightGradient, slot);
        } else {
          expect_next(slot.kind, slot);
        }
      }
    }
  }
}

TEST_P(ScheduleTest, EndsWhateverTheShape) {
  for (const PipelineShape& shape : ShapesOf(GetParam())) {
    EXPECT_TRUE(Evaluate(GetParam(), shape, {})) << ToText(shape);
  }
}

using KindsAndChunks = std::vector<std::pair<SlotKind, int32_t>>;

// Those of the slots, in pieces which each have at most one part that repeats:
// forwards and backwards apart where there is no steady state.
std::vector<KindsAndChunks> RepeatingPieces(PipelineSchedule schedule,
                                            const PipelineShape& shape,
                                            int64_t stage) {
  std::vector<KindsAndChunks> pieces(2);
  for (const Slot& slot : SlotsOf(schedule, shape, stage)) {
    const bool second = !schedule->has_steady_state && slot.kind == kBackward;
    pieces[second ? 1 : 0].emplace_back(slot.kind, slot.chunk);
  }
  return pieces;
}

// Whether `longer` is `base` with `times` times the part in it by which `once`
// is longer than `base`. If there is such a part, there is one that follows
// what both begin with.
bool IsRepeated(const KindsAndChunks& base, const KindsAndChunks& once,
                const KindsAndChunks& longer, int64_t times) {
  if (once.size() < base.size()) return false;
  const auto [base_rest, once_rest] =
      std::mismatch(base.begin(), base.end(), once.begin(), once.end());
  const auto once_end =
      once_rest + static_cast<int64_t>(once.size() - base.size());
  KindsAndChunks expected(base.begin(), base_rest);
  for (int64_t i = 0; i < times; ++i) {
    expected.insert(expected.end(), once_rest, once_end);
  }
  expected.insert(expected.end(), base_rest, base.end());
  return longer == expected;
}

TEST_P(ScheduleTest, GrowsByRepetitionsOnceItIsSteady) {
  for (PipelineShape shape : ShapesOf(GetParam())) {
    const int64_t from = SteadyFrom(GetParam(), shape);
    if (shape.micro_batches != from) continue;
    SCOPED_TRACE(ToText(shape));
    const int64_t step = RepetitionMicroBatches(GetParam(), shape);
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      const auto pieces = [&](int64_t repetitions) {
        shape.micro_batches = from + repetitions * step;
        EXPECT_TRUE(CheckShape(GetParam(), shape).ok());
        return RepeatingPieces(GetParam(), shape, stage);
      };
      const auto base = pieces(0);
      const auto once = pieces(1);
      for (const int64_t times : {1, 2, 3, 7}) {
        const auto longer = pieces(times);
        for (size_t i = 0; i < base.size(); ++i) {
          EXPECT_TRUE(IsRepeated(base[i], once[i], longer[i], times))
              << "stage " << stage << ", " << times << " more";
        }
      }
    }
  }
}

TEST_P(ScheduleTest, IsSteadyWithinTwoMicroBatchesForEachStage) {
  for (const PipelineShape& shape : ShapesOf(GetParam())) {
    EXPECT_LE(SteadyFrom(GetParam(), shape), 2 * shape.stages);
  }
}

TEST_P(ScheduleTest, IsFoundByItsName) {
  EXPECT_EQ(ValueOrDie(FindSchedule(Name(GetParam()))), GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ScheduleTest,
                         ::testing::ValuesIn(PipelineSchedules()));

TEST(FindScheduleTest, TakesNamesAsUsersTypeThem) {
  EXPECT_EQ(ValueOrDie(FindSchedule("ZB_H1")), ScheduleNamed("zb-h1"));
}

TEST(FindScheduleTest, NamesTheNearestWhereThereIsNoSuchName) {
  EXPECT_THAT(FindSchedule("dualpip"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unknown pipeline schedule \"dualpip\"; did you mean "
                       "\"dualpipe\"? (known: " +
                           ScheduleList() + ")"));
}

struct BadShape {
  PipelineSchedule schedule;
  PipelineShape shape;
  std::string message;
};

TEST(CheckShapeTest, NamesTheRuleThatIsBroken) {
  const BadShape bad[] = {
      {ScheduleNamed("1f1b"),
       {0, 1, 8},
       "schedule 1f1b: the number of stages is 0: expected 1 to 16777216"},
      {ScheduleNamed("zb-v"),
       {4, -2, 8},
       "schedule zb-v: the number of chunks per stage is -2: expected 1 to"
       " 16777216"},
      {ScheduleNamed("gpipe"),
       {4, 1, 16'777'217},
       "schedule gpipe: the number of micro-batches is 16777217: expected "
       "1 to 16777216"},
      {ScheduleNamed("interleaved"),
       {4, 4096, 8192},
       "schedule interleaved: 4096 chunks per stage x 8192 micro-batches: "
       "expected a product of at most 16777216"},
      {ScheduleNamed("gpipe"),
       {4, 2, 8},
       "schedule gpipe: the number of chunks per stage is 2: expected 1"},
      {ScheduleNamed("1f1b"),
       {4, 2, 8},
       "schedule 1f1b: the number of chunks per stage is 2: expected 1"},
      {ScheduleNamed("zb-h1"),
       {4, 3, 8},
       "schedule zb-h1: the number of chunks per stage is 3: expected 1"},
      {ScheduleNamed("interleaved"),
       {1, 2, 8},
       "schedule interleaved: the number of stages is 1: expected 2 or "
       "more"},
      {ScheduleNamed("interleaved"),
       {4, 1, 8},
       "schedule interleaved: the number of chunks per stage is 1: "
       "expected 2 or more"},
      {ScheduleNamed("interleaved"),
       {4, 2, 6},
       "schedule interleaved: the number of micro-batches is 6: expected a"
       " multiple of 4, the number of stages"},
      {ScheduleNamed("zb-v"),
       {4, 1, 8},
       "schedule zb-v: the number of chunks per stage is 1: expected 2"},
      {ScheduleNamed("dualpipe"),
       {4, 4, 8},
       "schedule dualpipe: the number of chunks per stage is 4: expected 2"},
      {ScheduleNamed("dualpipe"),
       {5, 2, 10},
       "schedule dualpipe: the number of stages is 5: expected an even one"},
      {ScheduleNamed("dualpipe"),
       {4, 2, 9},
       "schedule dualpipe: the number of micro-batches is 9: expected an "
       "even one"},
      {ScheduleNamed("dualpipe"),
       {4, 2, 6},
       "schedule dualpipe: the number of micro-batches is 6: expected 8 or"
       " more, two for each stage"},
  };
  for (const BadShape& row : bad) {
    EXPECT_THAT(CheckShape(row.schedule, row.shape),
                StatusIs(absl::StatusCode::kInvalidArgument, row.message));
  }
}

TEST(CheckShapeTest, AcceptsOneStageWhereThereIsNothingToInterleave) {
  for (const PipelineSchedule schedule :
       {ScheduleNamed("gpipe"), ScheduleNamed("1f1b"),
        ScheduleNamed("zb-h1")}) {
    EXPECT_TRUE(CheckShape(schedule, {1, 1, 1}).ok()) << Name(schedule);
  }
  EXPECT_TRUE(CheckShape(ScheduleNamed("zb-v"), {1, 2, 1}).ok());
}

}  // namespace
}  // namespace astra
