#include "workload/serving/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "astra-core/base/random.h"
#include "tests/workload/serving/serving_run.h"
#include "workload/serving/synthetic_requests.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

PoolOptions Vllm(StepCost* cost, int64_t replicas = 1) {
  PoolOptions pool = {.replicas = replicas,
                      .scheduler = &VllmScheduler(),
                      .options = VllmScheduler().defaults,
                      .cost = cost};
  pool.options.num_blocks = 100;
  return pool;
}

// The step from 0 to 10 has the first; the second arrives amid it.
TEST(SimulationTest, TimesOfARequest) {
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = Vllm(&cost)}, {{0, 5, 3}, {4, 7, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 =1", "p7@0 d1@5 =2", "d1@6 =1"));
  const RequestTimes& times = run.Of(1).times;
  EXPECT_EQ(times.queueing(), TimePs(6));
  EXPECT_EQ(times.to_first_token(), TimePs(16));
  EXPECT_EQ(run.Of(0).times.end_to_end(), TimePs(30));
  EXPECT_THAT(run.gaps, ElementsAre(std::pair(TimePs(10), int64_t{1}),
                                    std::pair(TimePs(10), int64_t{1})));
}

TEST(SimulationTest, ArrivalsOfOneInstantShareTheirStep) {
  WrittenCost cost;
  RunOf({.pool = Vllm(&cost)}, {{10, 5, 1}, {10, 6, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 p6@0 =2"));
}

// The requests arrive at 0 and 1, enter at 4 and 5, and steps begin at 4
// and 14.
TEST(SimulationTest, RequestsEnterAQueueLate) {
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = Vllm(&cost), .entry_delay = TimePs(4)},
                               {{0, 5, 2}, {1, 7, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 =1", "p7@0 d1@5 =2"));
  EXPECT_EQ(run.Of(0).times.queueing(), TimePs(4));
  EXPECT_EQ(run.Of(1).times.queueing(), TimePs(13));
  EXPECT_EQ(run.Of(1).times.to_first_token(), TimePs(23));
}

TEST(SimulationTest, ALateRequestOfAClosedLoopWaitsForItsEntry) {
  WrittenCost cost;
  const WrittenRun run =
      RunOf({.pool = Vllm(&cost), .in_flight = 1, .entry_delay = TimePs(4)},
            {{0, 5, 1}, {0, 7, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 =1", "p7@0 =1"));
  // It arrives when the first ends, at 14.
  EXPECT_EQ(run.Of(1).times.arrival, TimePs(14));
  EXPECT_EQ(run.Of(1).times.first_scheduled, TimePs(18));
}

TEST(SimulationTest, ReplicasWorkSideBySide) {
  WrittenCost cost;
  const WrittenRun run =
      RunOf({.pool = Vllm(&cost, 2)}, {{0, 5, 1}, {0, 6, 1}, {0, 7, 1}});
  EXPECT_THAT(cost.steps, ElementsAre("p5@0 p7@0 =2", "p6@0 =1"));
  EXPECT_EQ(run.Of(1).replica, 1u);
  EXPECT_EQ(run.Of(1).times.last_token, TimePs(10));
}

// Steps take as long as their positions: 3 for rank 0 and 8 for rank 1.
TEST(SimulationTest, RanksOfAReplicaWaitForTheSlowest) {
  struct : StepCost {
    TimePs TimeOf(const StepWork& work) override {
      return TimePs(work.tokens());
    }
  } cost;
  PoolOptions pool = Vllm(&cost);
  pool.ranks = 2;
  const WrittenRun run =
      RunOf({.pool = pool}, {{0, 3, 2}, {0, 8, 1}, {1, 4, 1}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.Of(0).times.first_token, TimePs(8));
  EXPECT_EQ(run.Of(1).times.first_token, TimePs(8));
  // Then rank 0 computes the third prompt and a token.
  EXPECT_EQ(run.Of(2).times.first_token, TimePs(13));
  ASSERT_EQ(run.steps.size(), 3u);
  EXPECT_EQ(run.steps[0].duration, TimePs(8));
  EXPECT_EQ(run.steps[1].replica, 1u);
}

TEST(SimulationTest, PromptsMoveToTheDecodePool) {
  WrittenCost prefill;
  WrittenCost decode(TimePs(5));
  ServingOptions options = {.pool = Vllm(&prefill), .decode = Vllm(&decode)};
  options.kv_bytes_per_token = Bytes(2);
  options.transfer_time = [](Bytes bytes) {
    return TimePs(100 + bytes.count());
  };
  const WrittenRun run = RunOf(options, {{0, 8, 3}, {0, 4, 1}});
  EXPECT_THAT(prefill.steps, ElementsAre("p8@0 p4@0 =2"));
  EXPECT_THAT(decode.steps, ElementsAre("d1@8 =1", "d1@9 =1"));
  // The first token at 10, then 100 + 16 for the KV cache and two steps of 5.
  EXPECT_EQ(run.Of(0).times.first_token, TimePs(10));
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(136));
  EXPECT_EQ(run.Of(0).decode_replica, 1u);
  EXPECT_EQ(run.Of(1).decode_replica, 0u);
  EXPECT_THAT(run.gaps, ElementsAre(std::pair(TimePs(121), int64_t{1}),
                                    std::pair(TimePs(5), int64_t{1})));
}

// Two prompts of 2 blocks each, in a pool of 3: the second waits until the
// first has moved, at 10 + 50.
TEST(SimulationTest, BlocksStayTakenWhileTheyMove) {
  WrittenCost prefill;
  WrittenCost decode;
  ServingOptions options = {.pool = Vllm(&prefill), .decode = Vllm(&decode)};
  options.pool.options.num_blocks = 3;
  options.transfer_time = [](Bytes) { return TimePs(50); };
  const WrittenRun run = RunOf(options, {{0, 32, 2}, {0, 32, 2}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.Of(1).times.first_scheduled, TimePs(60));
}

TEST(SimulationTest, PreemptedDecodesComputeTheirPromptAgain) {
  WrittenCost prefill;
  WrittenCost decode;
  ServingOptions options = {.pool = Vllm(&prefill), .decode = Vllm(&decode)};
  options.decode->options.num_blocks = 4;
  const WrittenRun run = RunOf(options, {{0, 31, 4}, {0, 31, 4}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_THAT(decode.steps, ElementsAre("d2@62 =2", "d1@32 =1", "d1@33 =1",
                                        "p33@0 =1", "d1@33 =1"));
}

// With N in flight, the sum of all times in the system is the integral of the
// number of requests there: N until the source ends.
TEST(SimulationTest, ClosedLoopKeepsLittlesLaw) {
  TokenCost cost;
  SyntheticOptions synthetic;
  synthetic.lengths = {.distribution = LengthDistribution::kGamma,
                       .prompt_tokens = 60,
                       .output_tokens = 20,
                       .max_tokens = 300};
  synthetic.arrivals = ArrivalProcess::kAtOnce;
  synthetic.count = 2000;
  SyntheticRequests source = *SyntheticRequests::Create(synthetic);
  constexpr int64_t kInFlight = 8;
  const WrittenRun run =
      RunOf({.pool = Vllm(&cost), .in_flight = kInFlight}, &source);
  ASSERT_EQ(run.requests.size(), 2000u);
  int64_t sum = 0;
  for (const RequestResult& request : run.requests) {
    sum += request.times.end_to_end().count();
  }
  // The request that is the first not to be followed by another.
  const TimePs full =
      run.requests[run.requests.size() - kInFlight].times.last_token;
  int64_t behind = 0;
  for (const RequestResult& request : run.requests) {
    if (request.times.last_token > full) {
      behind += (request.times.last_token - full).count();
    }
  }
  EXPECT_EQ(sum, kInFlight * full.count() + behind);
}

// Requests one after the other, with memory for all: each finds the longest
// prefix that any before it had.
TEST(SimulationTest, UnlimitedCacheFindsTheLongestPrefixSeen) {
  std::vector<Asked> asked;
  std::vector<int64_t> expected;
  std::set<uint64_t> seen;
  for (int64_t i = 0; i < 300; ++i) {
    std::vector<uint64_t> hashes;
    uint64_t hash = 0;
    int64_t found = 0;
    for (uint64_t k = 0; k < 5; ++k) {
      hash = HashOf(hash, HashOf(5, i, k) % 3);
      hashes.push_back(hash);
      if (seen.contains(hash)) found += 8;
    }
    seen.insert(hashes.begin(), hashes.end());
    expected.push_back(found);
    // All of the five hashes of 8 tokens end within the prompt.
    const int64_t prompt = 41 + static_cast<int64_t>(HashOf(6, i) % 16);
    asked.push_back({i * 100, prompt, 1, hashes, 8});
  }
  WrittenCost cost;
  PoolOptions pool = Vllm(&cost);
  pool.options.block_tokens = 4;
  pool.options.num_blocks = 10'000;
  const WrittenRun run = RunOf({.pool = pool}, asked);
  ASSERT_TRUE(run.status.ok());
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(run.requests[i].times.cached_tokens, expected[i]) << i;
  }
}

TEST(SimulationTest, TwoPoolsWithLittleMemoryServeAllRequests) {
  for (const auto kind : kSchedulers) {
    TokenCost cost;
    SyntheticOptions synthetic;
    synthetic.lengths = {.distribution = LengthDistribution::kGamma,
                         .prompt_tokens = 150,
                         .output_tokens = 40,
                         .max_tokens = 340};
    synthetic.per_second = 1e6;
    synthetic.count = 500;
    synthetic.prefix_tokens = 128;
    const SyntheticRequests source = *SyntheticRequests::Create(synthetic);
    PoolOptions pool = {.replicas = 2,
                        .scheduler = &kind(),
                        .options = kind().defaults,
                        .cost = &cost};
    pool.options.num_blocks = 1024 / pool.options.block_tokens;
    ServingOptions options = {.pool = pool, .decode = pool};
    options.decode->ranks = 2;
    options.kv_bytes_per_token = Bytes(1000);
    options.transfer_time = [](Bytes bytes) { return TimePs(bytes.count()); };
    for (const int64_t in_flight : {0, 50}) {
      options.in_flight = in_flight;
      SyntheticRequests again = source;
      const WrittenRun run = RunOf(options, &again);
      ASSERT_TRUE(run.status.ok()) << kind().name << run.status;
      EXPECT_EQ(run.requests.size(), 500u);
      int64_t tokens = 0;
      for (const StepRecord& step : run.steps) tokens += step.samples;
      for (const RequestResult& request : run.requests) {
        tokens -= request.output_tokens;
      }
      EXPECT_EQ(tokens, 0) << kind().name;
    }
  }
}

TEST(SimulationTest, MemoryIsBoundedByLiveRequests) {
  FixedCost cost(Microseconds(1));
  SyntheticOptions synthetic;
  synthetic.lengths = {.prompt_tokens = 20, .output_tokens = 2};
  synthetic.per_second = 1e6;
  synthetic.count = 200'000;
  SyntheticRequests source = *SyntheticRequests::Create(synthetic);
  struct : ServingObserver {
    void OnRequest(const RequestResult&) override { ++requests; }
    void OnStep(const StepRecord& step) override {
      most = std::max(most, step.running + step.waiting);
    }
    void OnTokens(TimePs, int64_t) override {}
    int64_t requests = 0;
    int64_t most = 0;
  } observer;
  ASSERT_TRUE(Serve({.pool = Vllm(&cost, 2)}, &source, &observer).ok());
  EXPECT_EQ(observer.requests, 200'000);
  EXPECT_LT(observer.most, 100);
}

TEST(SimulationTest, RefusesWhatItCannotServe) {
  WrittenCost cost;
  EXPECT_EQ(
      RunOf({.pool = Vllm(&cost)}, {{0, 5, 1}, {3, 1600, 1}}).status.message(),
      "request 1 has 1600 prompt and 1 output tokens: a replica of "
      "scheduler vllm with 100 blocks of 16 tokens serves at most 1600 "
      "in all");
  EXPECT_EQ(RunOf({.pool = Vllm(&cost)}, {{0, 0, 1}}).status.message(),
            "request 0 has 0 prompt and 1 output tokens: expected 1 or more");
  EXPECT_EQ(
      RunOf({.pool = Vllm(&cost)}, {{0, 40, 1, {1}, 24}}).status.message(),
      "block_tokens is 16: expected a divisor of 24, the tokens of a hashed "
      "block of request 0");
  PoolOptions none = Vllm(&cost, 0);
  EXPECT_EQ(RunOf({.pool = none}, {{0, 1, 1}}).status.message(),
            "0 replicas of 1 ranks: expected 1 to 65536 in all");
  FixedCost slow(kMaxServingTime);
  EXPECT_EQ(RunOf({.pool = Vllm(&slow)}, {{1, 1, 1}}).status.message(),
            "the simulation passes 100 days");
}

}  // namespace
}  // namespace astra::testing
