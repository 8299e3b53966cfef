#include "workload/parallel_plan.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

// The groups of a dimension in order, each as "0 4".
std::vector<std::string> Groups(const ParallelPlan& plan,
                                ParallelDimension dimension) {
  std::vector<std::string> groups;
  for (uint32_t i = 0; i < plan.NumGroups(dimension); ++i) {
    groups.push_back(
        fmt::format("{}", fmt::join(plan.Ranks(dimension, i), " ")));
  }
  return groups;
}

// The examples of simai.md 4.1.
TEST(ParallelPlanTest, EightGpusOnTensorFour) {
  const ParallelPlan plan =
      ValueOrDie(ParallelPlan::Create({.num_ranks = 8, .tensor = 4}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kTensor),
              ElementsAre("0 1 2 3", "4 5 6 7"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kData),
              ElementsAre("0 4", "1 5", "2 6", "3 7"));
}

TEST(ParallelPlanTest, SixteenGpusOnTensorTwoExpertFour) {
  const ParallelPlan plan = ValueOrDie(
      ParallelPlan::Create({.num_ranks = 16, .tensor = 2, .expert = 4}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kExpert),
              ElementsAre("0 2 4 6", "1 3 5 7", "8 10 12 14", "9 11 13 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kDataExpert),
              ElementsAre("0 8", "1 9", "2 10", "3 11", "4 12", "5 13", "6 14",
                          "7 15"));
}

// SimAI builds no EP groups where TP is 1.
TEST(ParallelPlanTest, ExpertGroupsExistWithoutTensorParallelism) {
  const ParallelPlan plan =
      ValueOrDie(ParallelPlan::Create({.num_ranks = 8, .expert = 4}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kExpert),
              ElementsAre("0 1 2 3", "4 5 6 7"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kDataExpert),
              ElementsAre("0 4", "1 5", "2 6", "3 7"));
}

// By Megatron's order: stage p has the ranks 6 p .. 6 p + 5.
TEST(ParallelPlanTest, StagesAreTheOutermostDimension) {
  const ParallelPlan plan = ValueOrDie(ParallelPlan::Create(
      {.num_ranks = 12, .tensor = 2, .expert = 3, .pipeline = 2}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kPipeline),
              ElementsAre("0 6", "1 7", "2 8", "3 9", "4 10", "5 11"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kData),
              ElementsAre("0 2 4", "1 3 5", "6 8 10", "7 9 11"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kTensor),
              ElementsAre("0 1", "2 3", "4 5", "6 7", "8 9", "10 11"));
}

// By hand: rank = tp + 2 (cp + 2 dp).
TEST(ParallelPlanTest, ContextIsBetweenTensorAndDataAndPartOfData) {
  const ParallelPlan plan = ValueOrDie(ParallelPlan::Create(
      {.num_ranks = 16, .tensor = 2, .context = 2, .pipeline = 2}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kContext),
              ElementsAre("0 2", "1 3", "4 6", "5 7", "8 10", "9 11", "12 14",
                          "13 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kData),
              ElementsAre("0 2 4 6", "1 3 5 7", "8 10 12 14", "9 11 13 15"));
}

// By hand: rank = etp + ETP (ep + EP dp_ep) within a stage of 8.
TEST(ParallelPlanTest, ExpertsAreSplitApartFromTheRest) {
  const ParallelPlan plan = ValueOrDie(ParallelPlan::Create({.num_ranks = 16,
                                                             .tensor = 4,
                                                             .expert = 4,
                                                             .expert_tensor = 1,
                                                             .pipeline = 2}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kTensor),
              ElementsAre("0 1 2 3", "4 5 6 7", "8 9 10 11", "12 13 14 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kExpert),
              ElementsAre("0 1 2 3", "4 5 6 7", "8 9 10 11", "12 13 14 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kDataExpert),
              ElementsAre("0 4", "1 5", "2 6", "3 7", "8 12", "9 13", "10 14",
                          "11 15"));
  EXPECT_EQ(plan.GroupSize(ParallelDimension::kExpertTensor), 1u);

  const ParallelPlan two = ValueOrDie(ParallelPlan::Create(
      {.num_ranks = 8, .tensor = 4, .expert = 2, .expert_tensor = 2}));
  EXPECT_THAT(Groups(two, ParallelDimension::kExpertTensor),
              ElementsAre("0 1", "2 3", "4 5", "6 7"));
  EXPECT_THAT(Groups(two, ParallelDimension::kExpert),
              ElementsAre("0 2", "1 3", "4 6", "5 7"));
  EXPECT_THAT(Groups(two, ParallelDimension::kDataExpert),
              ElementsAre("0 4", "1 5", "2 6", "3 7"));
}

RankOrder Order(std::string_view text) {
  return ValueOrDie(ParseRankOrder(text));
}

// By hand: rank = tp + 2 (cp + 2 (pp + 2 dp)). Stage 0 has 0 to 3 and 8 to 11.
TEST(ParallelPlanTest, StagesMayLieBetweenReplicas) {
  const ParallelPlan plan =
      ValueOrDie(ParallelPlan::Create({.num_ranks = 16,
                                       .tensor = 2,
                                       .context = 2,
                                       .pipeline = 2,
                                       .order = Order("tp-cp-ep-pp-dp")}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kPipeline),
              ElementsAre("0 4", "1 5", "2 6", "3 7", "8 12", "9 13", "10 14",
                          "11 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kData),
              ElementsAre("0 2 8 10", "1 3 9 11", "4 6 12 14", "5 7 13 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kContext),
              ElementsAre("0 2", "1 3", "8 10", "9 11", "4 6", "5 7", "12 14",
                          "13 15"));
  EXPECT_EQ(plan.StageOf(RankId(9)), 0u);
  EXPECT_EQ(plan.StageOf(RankId(13)), 1u);
  EXPECT_EQ(plan.RankOf(1, 5), RankId(13));
}

// By hand: rank = pp + 2 (dp + 4 tp), for experts pp + 2 (dp_ep + 2 (ep + 2
// etp)) with ETP 1.
TEST(ParallelPlanTest, AnyDimensionMayComeFirst) {
  const ParallelPlan plan =
      ValueOrDie(ParallelPlan::Create({.num_ranks = 16,
                                       .tensor = 2,
                                       .expert = 4,
                                       .expert_tensor = 1,
                                       .pipeline = 2,
                                       .order = Order("pp-dp-ep-cp-tp")}));
  EXPECT_THAT(Groups(plan, ParallelDimension::kTensor),
              ElementsAre("0 8", "2 10", "4 12", "6 14", "1 9", "3 11", "5 13",
                          "7 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kData),
              ElementsAre("0 2 4 6", "8 10 12 14", "1 3 5 7", "9 11 13 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kExpert),
              ElementsAre("0 4 8 12", "2 6 10 14", "1 5 9 13", "3 7 11 15"));
  EXPECT_THAT(Groups(plan, ParallelDimension::kPipeline),
              ElementsAre("0 1", "2 3", "4 5", "6 7", "8 9", "10 11", "12 13",
                          "14 15"));
}

TEST(ParallelPlanTest, TheOrderMustPutStagesInOnePlace) {
  const ParallelSizes sizes = {.num_ranks = 16,
                               .tensor = 2,
                               .expert = 4,
                               .expert_tensor = 1,
                               .pipeline = 2,
                               .order = Order("tp-cp-ep-pp-dp")};
  EXPECT_THAT(ParallelPlan::Create(sizes),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "order tp-cp-ep-pp-dp puts stages 2 ranks apart, those "
                       "of experts 4 ranks (TP 2, CP 1; ETP 1, EP 4)"));
  EXPECT_FALSE(NumbersAlike({.num_ranks = 8, .tensor = 2, .pipeline = 2},
                            Order("tp-cp-ep-pp-dp")));
  EXPECT_TRUE(NumbersAlike({.num_ranks = 8, .tensor = 4, .pipeline = 2},
                           Order("tp-cp-ep-pp-dp")));
}

TEST(ParallelPlanTest, ExpertTensorIsTensorUnlessGiven) {
  const ParallelPlan plan =
      ValueOrDie(ParallelPlan::Create({.num_ranks = 8, .tensor = 4}));
  EXPECT_EQ(Groups(plan, ParallelDimension::kExpertTensor),
            Groups(plan, ParallelDimension::kTensor));
}

TEST(ParallelPlanTest, EveryRankIsInOneGroupOfEachDimension) {
  for (const ParallelSizes& sizes :
       {ParallelSizes{.num_ranks = 1}, ParallelSizes{.num_ranks = 7},
        ParallelSizes{.num_ranks = 24, .tensor = 2, .expert = 2, .pipeline = 3},
        ParallelSizes{.num_ranks = 64, .tensor = 4, .expert = 4, .pipeline = 2},
        ParallelSizes{.num_ranks = 96,
        .tensor = 2,
        .context = 3,
        .expert = 4,
        .expert_tensor = 3,
        .pipeline = 2},
        ParallelSizes{.num_ranks = 72,
        .tensor = 2,
        .context = 3,
        .pipeline = 3,
        .order = Order("dp-tp-pp-cp-ep")},
        ParallelSizes{.num_ranks = 96,
        .tensor = 2,
        .context = 2,
        .expert = 4,
        .expert_tensor = 1,
        .pipeline = 3,
        .order = Order("ep-tp-cp-pp-dp")}}) {
    const ParallelPlan plan = ValueOrDie(ParallelPlan::Create(sizes));
    for (const ParallelDimension dimension : kParallelDimensions) {
      SCOPED_TRACE(fmt::format("{} of {}", Name(dimension), plan.num_ranks()));
      std::set<RankId> seen;
      std::pair<uint32_t, RankId> last;
      for (uint32_t i = 0; i < plan.NumGroups(dimension); ++i) {
        const std::vector<RankId> ranks = plan.Ranks(dimension, i);
        EXPECT_EQ(ranks.size(), plan.GroupSize(dimension));
        EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
        const bool has_stage = dimension != ParallelDimension::kPipeline;
        const uint32_t stage = has_stage ? plan.StageOf(ranks.front()) : 0;
        const auto place = std::pair(stage, ranks.front());
        EXPECT_TRUE(i == 0 || last < place);
        last = place;
        for (const RankId rank : ranks) {
          EXPECT_TRUE(seen.insert(rank).second) << "rank " << rank.index();
          EXPECT_EQ(plan.GroupOf(dimension, rank), i);
          EXPECT_TRUE(!has_stage || plan.StageOf(rank) == stage);
        }
      }
      EXPECT_EQ(seen.size(), plan.num_ranks());
      EXPECT_EQ(seen.rbegin()->index(), plan.num_ranks() - 1);
    }
  }
}

TEST(ParallelPlanTest, RefusesSizesThatDoNotDivide) {
  const auto says = [](std::string_view message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
  };
  EXPECT_THAT(ParallelPlan::Create({.num_ranks = 12, .tensor = 8}),
              says("TP 8 x PP 1 does not divide the 12 GPUs: there is no whole "
                   "DP"));
  EXPECT_THAT(
      ParallelPlan::Create({.num_ranks = 16, .tensor = 4, .pipeline = 8}),
      says("TP 4 x PP 8 does not divide the 16 GPUs: there is no whole DP"));
  EXPECT_THAT(ParallelPlan::Create(
                  {.num_ranks = 16, .tensor = 2, .expert = 8, .pipeline = 2}),
              says("EP 8 does not divide DP 4 = 16 GPUs / (TP 2 x PP 2)"));
  EXPECT_THAT(
      ParallelPlan::Create({.num_ranks = 16, .tensor = 4, .context = 3}),
      says("CP 3 does not divide 4 = 16 GPUs / (TP 4 x PP 1): there is no "
           "whole DP"));
  EXPECT_THAT(ParallelPlan::Create({.num_ranks = 16,
                                    .tensor = 4,
                                    .expert = 4,
                                    .expert_tensor = 2,
                                    .pipeline = 4}),
              says("ETP 2 x EP 4 does not divide the 4 GPUs of a stage"));
}

TEST(ParallelPlanTest, RefusesSizesThatAreNone) {
  const auto says = [](std::string_view message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
  };
  EXPECT_THAT(ParallelPlan::Create({.num_ranks = 0}),
              says("all_gpus is 0: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.tensor = -1}),
              says("TP is -1: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.context = 0}),
              says("CP is 0: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.expert_tensor = 0}),
              says("ETP is 0: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.expert = 0}),
              says("EP is 0: expected a number from 1 to 16777216"));
  // Their product would not fit into 64 bits.
  EXPECT_THAT(ParallelPlan::Create(
                  {.tensor = int64_t{1} << 33, .pipeline = int64_t{1} << 33}),
              says("TP is 8589934592: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.pipeline = 16'777'217}),
              says("PP is 16777217: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.virtual_stages = 0}),
              says("VPP is 0: expected a number from 1 to 16777216"));
  EXPECT_THAT(ParallelPlan::Create({.micro_batches = 0}),
              says("GA is 0: expected a number from 1 to 16777216"));
}

}  // namespace
}  // namespace astra
