// Where jobs are placed, and what is refused.

#include "astra-core/jobs/placement.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Servers 0 and 1 below one leaf, 2 and 3 below another; two GPUs each.
Topology FourServers() {
  Drawing drawing(8, 2, 0, 2);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) drawing.Cable(gpu, 8 + gpu / 4);
  return drawing.Cable(8, 9).Build();
}

std::vector<JobPlace> Place(const std::vector<PlacementWish>& wishes,
                            PlacementPolicy policy, uint64_t seed = 1) {
  return ValueOrDie(PlaceJobs(FourServers(), wishes, policy, seed));
}

std::string MistakeOf(const std::vector<PlacementWish>& wishes) {
  return std::string(
      PlaceJobs(FourServers(), wishes, PlacementPolicy::kPacked, 1)
          .status()
          .message());
}

TEST(PlacementTest, PackedTakesTheFirstFreeServers) {
  const std::vector<JobPlace> places = Place(
      {{.name = "a", .num_ranks = 4},
       {.name = "b", .num_ranks = 2, .servers = {1}},
       {.name = "c", .num_ranks = 1, .servers = {3}, .gpus_of_server = {1}}},
      PlacementPolicy::kPacked);
  EXPECT_THAT(places[0].gpus, ElementsAre(0, 1, 4, 5));
  EXPECT_EQ(places[0].gpus_per_server, 2u);
  EXPECT_THAT(places[1].gpus, ElementsAre(2, 3));
  EXPECT_THAT(places[2].gpus, ElementsAre(7));
}

TEST(PlacementTest, SpreadTakesTurnsBetweenLeaves) {
  const std::vector<JobPlace> places =
      Place({{.name = "a", .num_ranks = 4}, {.name = "b", .num_ranks = 4}},
            PlacementPolicy::kSpread);
  EXPECT_THAT(places[0].gpus, ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(places[1].gpus, ElementsAre(2, 3, 6, 7));
}

// A job on a server of the first leaf leaves the second one less used.
TEST(PlacementTest, SpreadBeginsWhereFewestServersAreBusy) {
  const std::vector<JobPlace> places =
      Place({{.name = "a", .num_ranks = 2}, {.name = "b", .num_ranks = 2}},
            PlacementPolicy::kSpread);
  EXPECT_THAT(places[0].gpus, ElementsAre(0, 1));
  EXPECT_THAT(places[1].gpus, ElementsAre(4, 5));
}

TEST(PlacementTest, RandomDependsOnTheSeedAlone) {
  const std::vector<PlacementWish> wishes = {{.name = "a", .num_ranks = 8}};
  std::set<std::vector<uint32_t>> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const JobPlace place = Place(wishes, PlacementPolicy::kRandom, seed)[0];
    EXPECT_EQ(place.gpus,
              Place(wishes, PlacementPolicy::kRandom, seed)[0].gpus);
    std::vector<uint32_t> sorted = place.gpus;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_THAT(sorted, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    seen.insert(place.gpus);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(PlacementTest, RanksMayBeOnGivenGpus) {
  const std::vector<JobPlace> places =
      Place({{.name = "a", .num_ranks = 4, .gpu_of_rank = {6, 7, 2, 3}}},
            PlacementPolicy::kPacked);
  EXPECT_THAT(places[0].gpus, ElementsAre(6, 7, 2, 3));
  EXPECT_EQ(places[0].gpus_per_server, 2u);
}

TEST(PlacementTest, WhatDoesNotFitNamesTheJob) {
  EXPECT_EQ(MistakeOf({{.name = "a", .num_ranks = 4, .servers = {1}}}),
            "job a: its workload has 4 ranks, and its place 2 GPUs");
  EXPECT_EQ(MistakeOf({{.name = "a", .num_ranks = 2, .servers = {4}}}),
            "job a: expected servers below 4, not 4");
  EXPECT_EQ(MistakeOf({{.name = "a",
                        .num_ranks = 1,
                        .servers = {0},
                        .gpus_of_server = {2}}}),
            "job a: expected GPUs of a server below 2, not 2");
  EXPECT_EQ(MistakeOf({{.name = "a", .num_ranks = 2, .servers = {1}},
                       {.name = "b", .num_ranks = 2, .servers = {1}}}),
            "job b: GPU 2 is taken by job a");
  EXPECT_EQ(
      MistakeOf({{.name = "a", .num_ranks = 8}, {.name = "b", .num_ranks = 2}}),
      "job b: it needs 1 servers, and 0 are free");
  EXPECT_EQ(MistakeOf({{.name = "a", .num_ranks = 4, .servers = {1, 1}}}),
            "job a: expected no server twice");
  EXPECT_THAT(MistakeOf({{.name = "a", .num_ranks = 3}}),
              HasSubstr("say which GPUs of each it takes"));
}

}  // namespace
}  // namespace astra::testing
