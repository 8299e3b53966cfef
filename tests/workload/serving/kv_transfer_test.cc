#include "workload/serving/kv_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

StartKvTransfer PerToken(double ps) {
  return [ps](const KvTransfer& transfer) {
    return TimePs(std::llround(ps * transfer.share *
                               static_cast<double>(transfer.tokens)));
  };
}

// A step of 10 for a prompt of 10 and 5 layers: four layers leave from 2 to 10,
// and the last from 10 to 12.
TEST(KvTransferTest, LayerwiseHidesAllButTheLastLayer) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost), .decode = Vllm(&cost)};
  options.transfer_layers = 5;
  options.transfer = PerToken(1);
  const WrittenRun run = RunOf(options, {{0, 10, 2}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.Of(0).times.kv_transfer(), TimePs(2));
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(22));
}

// A slow network works on from 2: 80 for four layers and 20 for the last.
TEST(KvTransferTest, LayerwiseQueuesBehindASlowNetwork) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost), .decode = Vllm(&cost)};
  options.transfer_layers = 5;
  options.transfer = PerToken(10);
  const WrittenRun run = RunOf(options, {{0, 10, 2}});
  EXPECT_EQ(run.Of(0).times.kv_arrived, TimePs(102));
}

TEST(KvTransferTest, EachChunkOfAPromptLeavesOnce) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost), .decode = Vllm(&cost)};
  options.pool.options.max_batched_tokens = 8;
  options.transfer_layers = 2;
  std::vector<std::pair<int64_t, double>> parts;
  options.transfer = [&](const KvTransfer& transfer) {
    parts.emplace_back(transfer.tokens, transfer.share);
    return TimePs(0);
  };
  const WrittenRun run = RunOf(options, {{0, 12, 2}});
  ASSERT_TRUE(run.status.ok());
  using Part = std::pair<int64_t, double>;
  EXPECT_THAT(parts, ElementsAre(Part(8, 0.5), Part(8, 0.5), Part(4, 0.5),
                                 Part(4, 0.5)));
}

TEST(KvTransferTest, DecodePoolMayHandOutTheFirstToken) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost), .decode = Vllm(&cost)};
  options.transfer = PerToken(10);
  options.first_token_from_decode = true;
  const WrittenRun run = RunOf(options, {{0, 10, 3}, {0, 10, 1}});
  EXPECT_EQ(run.Of(0).times.to_first_token(), TimePs(110));
  EXPECT_EQ(run.Of(0).times.kv_transfer(), TimePs(100));
  // A request of one token ends in the first pool.
  EXPECT_EQ(run.Of(1).times.to_first_token(), TimePs(10));
  EXPECT_EQ(run.Of(1).times.kv_transfer(), std::nullopt);
}

// The second prompt must not follow the first, whose cache is still moving.
TEST(KvTransferTest, CachesOnTheirWayCountForTheRouter) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost), .decode = Vllm(&cost, 2)};
  options.decode->router = *FindRouter("least-loaded");
  options.transfer = PerToken(10);
  const WrittenRun run = RunOf(options, {{0, 10, 2}, {0, 10, 2}});
  EXPECT_EQ(run.Of(0).decode_replica, 1u);
  EXPECT_EQ(run.Of(1).decode_replica, 2u);
}

}  // namespace
}  // namespace astra::testing
