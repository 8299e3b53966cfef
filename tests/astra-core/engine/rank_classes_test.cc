#include "astra-core/engine/rank_classes.h"

#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::Each;
using ::testing::ElementsAre;

using D = ParallelDimension;

ParallelPlan Plan(int64_t ranks, int64_t tensor) {
  ParallelSizes sizes;
  sizes.num_ranks = ranks;
  sizes.tensor = tensor;
  return ValueOrDie(ParallelPlan::Create(sizes));
}

TEST(RankClassesTest, AllRanksAreOneClassWhereAllGroupsCostTheSame) {
  const ParallelPlan plan = Plan(16, 4);
  const RankClasses classes = ClassifyRanks(
      plan, {{D::kTensor, {0, 0, 0, 0}}, {D::kData, {0, 0, 0, 0}}});
  EXPECT_THAT(classes.class_of_rank, Each(0u));
  EXPECT_THAT(classes.lowest_rank, ElementsAre(RankId(0)));
  EXPECT_THAT(classes.class_of_group, Each(Each(0u)));
}

TEST(RankClassesTest, AGroupThatCostsMoreSetsItsRanksApart) {
  // TP groups {0,1} {2,3} {4,5} {6,7}; the third is slow. DP groups are the
  // even and the odd ranks: alike, each with one slow rank.
  const ParallelPlan plan = Plan(8, 2);
  const RankClasses classes =
      ClassifyRanks(plan, {{D::kTensor, {0, 0, 1, 0}}, {D::kData, {0, 0}}});
  EXPECT_THAT(classes.class_of_rank, ElementsAre(0, 0, 0, 0, 1, 1, 0, 0));
  EXPECT_THAT(classes.lowest_rank, ElementsAre(RankId(0), RankId(4)));
  EXPECT_THAT(classes.class_of_group[1], ElementsAre(0, 0));
}

TEST(RankClassesTest, RanksThatMeetASlowRankAreNotThoseThatMeetNone) {
  // EP 2: EP groups {0,2} {1,3} {4,6} {5,7}. TP group {0,1} is slow, so 2 and 3
  // meet a slow rank over EP, and 4 .. 7 do not.
  ParallelSizes sizes;
  sizes.num_ranks = 8;
  sizes.tensor = 2;
  sizes.expert = 2;
  const ParallelPlan plan = ValueOrDie(ParallelPlan::Create(sizes));
  const RankClasses classes = ClassifyRanks(
      plan, {{D::kTensor, {1, 0, 0, 0}}, {D::kExpert, {0, 0, 0, 0}}});
  EXPECT_THAT(classes.class_of_rank, ElementsAre(0, 0, 1, 1, 2, 2, 2, 2));
}

// Stage 0 has the ranks 0, 1, 4 and 5.
TEST(RankClassesTest, StagesNeedNotBeNeighbours) {
  ParallelSizes sizes;
  sizes.num_ranks = 8;
  sizes.tensor = 2;
  sizes.pipeline = 2;
  sizes.order = ValueOrDie(ParseRankOrder("tp-cp-ep-pp-dp"));
  const ParallelPlan plan = ValueOrDie(ParallelPlan::Create(sizes));
  const RankClasses classes =
      ClassifyRanks(plan, {{D::kTensor, {0, 0, 0, 0}}}, /*by_stage=*/true);
  EXPECT_THAT(classes.class_of_rank, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(classes.lowest_rank, ElementsAre(RankId(0), RankId(2)));
  EXPECT_THAT(classes.stage, ElementsAre(0, 1));
}

TEST(RankClassesTest, EachRankAloneIsItsOwnClass) {
  const RankClasses classes = EachRankAlone(Plan(4, 2), {{D::kTensor, {0, 0}}});
  EXPECT_THAT(classes.class_of_rank, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(classes.class_of_group[0], ElementsAre(0, 1));
}

}  // namespace
}  // namespace astra
