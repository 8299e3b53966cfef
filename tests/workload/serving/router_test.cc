#include "workload/serving/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

// The replicas of requests, all of which arrive while the first runs.
std::vector<uint32_t> ReplicasOf(std::string_view router, int64_t replicas,
                                 const std::vector<Asked>& asked,
                                 uint64_t seed = 0) {
  FixedCost cost(TimePs(10));
  PoolOptions pool = {.replicas = replicas,
                      .scheduler = &VllmScheduler(),
                      .options = VllmScheduler().defaults,
                      .router = *FindRouter(router),
                      .cost = &cost};
  pool.options.num_blocks = 1000;
  pool.options.block_tokens = 4;
  const WrittenRun run = RunOf({.pool = pool, .seed = seed}, asked);
  std::vector<uint32_t> chosen;
  for (size_t i = 0; i < asked.size(); ++i) {
    chosen.push_back(run.Of(static_cast<int64_t>(i)).replica);
  }
  return chosen;
}

TEST(RouterTest, RoundRobinTakesTurns) {
  EXPECT_THAT(ReplicasOf("round-robin", 3,
                         {{0, 4, 9}, {0, 4, 1}, {50, 4, 1}, {60, 4, 1}}),
              ElementsAre(0, 1, 2, 0));
}

// At 50 the second has ended; the third goes where it was, the fourth to the
// first of two with one request each.
TEST(RouterTest, LeastLoadedCountsWhatHasNotEnded) {
  EXPECT_THAT(ReplicasOf("least-loaded", 2,
                         {{0, 4, 9}, {0, 4, 1}, {50, 4, 9}, {51, 4, 1}}),
              ElementsAre(0, 1, 1, 0));
}

// The third has the prefix of the second; a prefix of 1 of 4 blocks is too
// short, so the fourth goes to the least loaded.
TEST(RouterTest, PrefixAwareGoesWhereThePrefixIs) {
  EXPECT_THAT(ReplicasOf("prefix-aware", 2,
                         {{0, 12, 9, {1, 2}},
                          {0, 12, 9, {5, 6}},
                          {50, 12, 9, {5, 6}},
                          {51, 16, 1, {5, 7}}}),
              ElementsAre(0, 1, 1, 0));
}

TEST(RouterTest, RandomDependsOnTheSeedOnly) {
  const std::vector<Asked> asked(40, {0, 4, 1});
  const std::vector<uint32_t> chosen = ReplicasOf("random", 4, asked, 7);
  EXPECT_EQ(chosen, ReplicasOf("random", 4, asked, 7));
  EXPECT_NE(chosen, ReplicasOf("random", 4, asked, 8));
  EXPECT_EQ(std::set<uint32_t>(chosen.begin(), chosen.end()).size(), 4u);
}

TEST(RouterTest, IsFoundByName) {
  EXPECT_EQ(FindRouter("round_robin").value(), &Routers()[0]);
  EXPECT_EQ(FindRouter("rr").status().message(),
            "unknown router \"rr\" (known: round-robin, least-loaded, "
            "prefix-aware, random)");
}

}  // namespace
}  // namespace astra::testing
