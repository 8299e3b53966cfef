#include "astra-core/planner/internevo/evo_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "astra-core/planner/internevo/evo_config.h"
#include "tests/astra-core/planner/internevo/small_evo_job.h"

namespace astra {
namespace {

using ::astra::testing::kSmallModel;
using ::astra::testing::kSmallSeqLen;
using ::astra::testing::SmallJob;
using ::astra::testing::SmallProfile;

constexpr int64_t kWorld = 8;
constexpr int64_t kTokens = 4 * 32;  // 32 sequences.
constexpr double kMemory = 30'000;   // Bytes: some layouts do not fit.

EvoSearchResult SearchSmall(double seconds_per_byte, size_t most = 10'000) {
  const EvoProfile profile = SmallProfile(kWorld, seconds_per_byte);
  return SearchEvo(SmallJob(profile, kWorld),
                   {.tokens = kTokens, .memory_bytes = kMemory, .most = most});
}

// Prices every layout there is, by loops of its own.
std::vector<EvoSolution> AllSolutions() {
  const EvoProfile profile = SmallProfile(kWorld);
  const EvoJob job = SmallJob(profile, kWorld);
  std::vector<EvoSolution> all;
  const auto price = [&](const EvoLayout& layout) {
    std::vector<EvoKey> keys;
    if (!CheckEvoLayout(kSmallModel, kSmallSeqLen, kWorld, layout).ok()) return;
    if (!AppendKeys(layout, job.cluster, &keys)) return;
    const double tokens =
        static_cast<double>(layout.micro_bsz * layout.micro_num * kSmallSeqLen *
                            DataReplicas(layout, kWorld));
    if (tokens != kTokens || layout.micro_num < layout.pipeline) return;
    EvoSolution solution;
    solution.layout = layout;
    solution.memory = MemoryOf(kSmallModel, kSmallSeqLen, kWorld, layout);
    if (solution.memory.total > kMemory) return;
    solution.cost =
        CostOf(job, layout, WorkOf(job, layout.micro_bsz, layout.sequence));
    all.push_back(solution);
  };
  for (const int64_t pp : {1, 2, 4}) {
    for (const int64_t sp : {1, 2}) {
      for (const int64_t wp : {1, 2, 4, 6, 8}) {
        for (int64_t zp = 1; zp <= kWorld; ++zp) {
          for (int64_t bsz = 1; bsz <= 32; ++bsz) {
            for (int64_t num = 1; num <= 32; ++num) {
              for (const double ckpt : {0, 1}) {
                for (const EvoMode mode : kEvoModes) {
                  if (mode != EvoMode::kIsp && wp > 1) continue;
                  price({mode, pp, sp, wp, zp, bsz, num, ckpt});
                }
              }
            }
          }
        }
      }
    }
  }
  return all;
}

TEST(EvoSearchTest, TheBestIsTheMostOfAll) {
  const std::vector<EvoSolution> all = AllSolutions();
  const EvoSearchResult found = SearchSmall(1e-9);
  EXPECT_EQ(found.solved, static_cast<int64_t>(all.size()));
  EXPECT_GT(found.beyond_memory, 0);
  EXPECT_EQ(found.layouts, found.uneven + found.beyond_memory + found.solved);
  double best = 0;
  for (const EvoSolution& solution : all) {
    best = std::max(best, solution.cost.tgs);
  }
  EXPECT_EQ(found.solutions.front().cost.tgs, best);
  for (const EvoMode mode : kEvoModes) {
    double best_of_mode = 0;
    for (const EvoSolution& solution : all) {
      if (solution.layout.mode != mode) continue;
      best_of_mode = std::max(best_of_mode, solution.cost.tgs);
    }
    EXPECT_EQ(found.best_of_mode[static_cast<size_t>(mode)]->cost.tgs,
              best_of_mode);
  }
  EXPECT_TRUE(std::is_sorted(
      found.solutions.begin(), found.solutions.end(),
      [](const auto& a, const auto& b) { return a.cost.tgs > b.cost.tgs; }));
}

TEST(EvoSearchTest, FewerAreTheFirstOfAll) {
  const EvoSearchResult all = SearchSmall(1e-9);
  const EvoSearchResult few = SearchSmall(1e-9, 3);
  ASSERT_EQ(few.solutions.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(few.solutions[i].layout, all.solutions[i].layout);
  }
}

TEST(EvoSearchTest, MoreBandwidthIsNeverSlower) {
  double before = 0;
  for (const double seconds_per_byte : {1e-7, 1e-8, 1e-9, 1e-10}) {
    const double tgs = SearchSmall(seconds_per_byte).solutions[0].cost.tgs;
    EXPECT_GE(tgs, before) << seconds_per_byte;
    before = tgs;
  }
}

TEST(EvoSearchTest, ReadsOnlyTheTablesItNames) {
  EvoProfile profile = SmallProfile(kWorld);
  const EvoJob job = SmallJob(profile, kWorld);
  const std::vector<EvoKey> keys =
      KeysOfSearch(kSmallModel, kSmallSeqLen, job.cluster, kTokens);
  std::map<EvoKey, EvoCurve> named;
  for (const EvoKey& key : keys) {
    named.emplace(key, profile.collectives.at(key));
  }
  profile.collectives = std::move(named);
  SearchEvo(job, {.tokens = kTokens, .memory_bytes = kMemory, .most = 1});
}

TEST(EvoSearchTest, NamesTheNearestBatch) {
  EXPECT_TRUE(CheckEvoBatch(kSmallModel, kSmallSeqLen, kWorld, kTokens).ok());
  EXPECT_EQ(
      CheckEvoBatch(kSmallModel, kSmallSeqLen, kWorld, kTokens + 1).message(),
      "129 tokens make no whole micro-batches on 8 ranks: expected a multiple "
      "of seq_len 4 x DP, with PP or more sequences for each of the DP "
      "replicas; the nearest is 128");
  // With PP 4 and SP 2 there is one replica, with 4 sequences at least.
  EXPECT_EQ(CheckEvoBatch(kSmallModel, kSmallSeqLen, kWorld, 1)
                .message()
                .substr(0, 46),
            "1 tokens make no whole micro-batches on 8 rank");
}

}  // namespace
}  // namespace astra
