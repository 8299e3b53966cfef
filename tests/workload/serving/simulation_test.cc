#include "workload/serving/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/workload/serving/serving_run.h"
#include "workload/serving/synthetic_requests.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

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

// Writes down the steps of two pipeline stages, which take 10 and `second`.
class TwoStages : public WrittenCost {
 public:
  explicit TwoStages(TimePs second) : second_(second) {}
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<StageTime>* stages) override {
    stages->push_back({TimeOf(ranks[0])});
    stages->push_back({second_});
  }

 private:
  TimePs second_;
};

// A network for steps that send nothing.
class UnusedNetwork : public StageNetwork {
 public:
  TimePs TimeAlone(uint32_t, absl::Span<const StageMessages>) override {
    ADD_FAILURE();
    return TimePs(0);
  }
  void Start(uint32_t, uint32_t, absl::Span<const StageMessages>) override {
    ADD_FAILURE();
  }
};

PoolOptions TwoStagesOf(StepCost* cost, int64_t budget) {
  PoolOptions pool = Vllm(cost);
  pool.steps_under_way = 2;
  pool.options.max_batched_tokens = budget;
  return pool;
}

// Stages that the simulation passes one by one take what the closed form says.
TEST(SimulationTest, StepsThatSendNothingTakeTheirClosedForm) {
  const std::vector<Asked> asked = {
      {0, 8, 3}, {0, 8, 3}, {15, 6, 2}, {100, 1, 4}};
  UnusedNetwork network;
  for (const int64_t second : {3, 10, 17}) {
    TwoStages cost{TimePs(second)};
    PoolOptions pool = TwoStagesOf(&cost, 8);
    const WrittenRun closed = RunOf({.pool = pool}, asked);
    pool.network = &network;
    const WrittenRun passed = RunOf({.pool = pool}, asked);
    ASSERT_TRUE(passed.status.ok());
    ASSERT_EQ(passed.steps.size(), closed.steps.size());
    for (size_t i = 0; i < passed.steps.size(); ++i) {
      EXPECT_EQ(passed.steps[i].start, closed.steps[i].start);
      EXPECT_EQ(passed.steps[i].duration, closed.steps[i].duration);
    }
    for (int64_t id = 0; id < 4; ++id) {
      EXPECT_EQ(passed.Of(id).times.last_token, closed.Of(id).times.last_token);
      EXPECT_EQ(passed.Of(id).times.executed, closed.Of(id).times.executed);
    }
  }
}

// Replica 1 has its weights at 25, and the router does not know.
TEST(SimulationTest, RequestsWaitUntilTheirReplicaHasItsWeights) {
  WrittenCost cost;
  ServingOptions options = {.pool = Vllm(&cost, 2)};
  options.load_weights = [](uint32_t replica) {
    return std::optional(TimePs(replica == 1 ? 25 : 0));
  };
  const WrittenRun run = RunOf(options, {{0, 4, 1}, {1, 4, 1}});
  EXPECT_EQ(run.Of(0).times.first_token, TimePs(10));
  EXPECT_EQ(run.Of(1).replica, 1u);
  EXPECT_EQ(run.Of(1).times.first_token, TimePs(35));
}

// The budget parts the requests into two steps, which follow one another
// through the stages: the second enters the first stage at 10.
TEST(SimulationTest, EachPipelineStageHasAStep) {
  TwoStages cost(TimePs(10));
  const WrittenRun run =
      RunOf({.pool = TwoStagesOf(&cost, 8)}, {{0, 8, 3}, {0, 8, 3}});
  EXPECT_THAT(cost.steps, ElementsAre("p8@0 =1", "p8@0 =1", "d1@8 =1",
                                      "d1@8 =1", "d1@9 =1", "d1@9 =1"));
  EXPECT_EQ(run.Of(0).times.first_token, TimePs(20));
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(60));
  EXPECT_EQ(run.Of(1).times.first_token, TimePs(30));
  EXPECT_EQ(run.Of(1).times.last_token, TimePs(70));
  // The second was formed at 0 too.
  EXPECT_EQ(run.steps[1].start, TimePs(0));
  EXPECT_EQ(run.steps[1].duration, TimePs(30));
}

// From 40 on a step leaves the second stage every 30.
TEST(SimulationTest, TheSlowestStageSetsThePace) {
  TwoStages cost(TimePs(30));
  const WrittenRun run =
      RunOf({.pool = TwoStagesOf(&cost, 8)}, {{0, 8, 2}, {0, 8, 2}});
  EXPECT_EQ(run.Of(0).times.first_token, TimePs(40));
  EXPECT_EQ(run.Of(1).times.first_token, TimePs(70));
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(100));
  EXPECT_EQ(run.Of(1).times.last_token, TimePs(130));
}

// vLLM sends the second chunk of a prompt behind the first, TensorRT-LLM waits
// for the end of the first.
TEST(SimulationTest, ChunksOfAPromptFollowOneAnotherWhereTheEngineLetsThem) {
  TwoStages cost(TimePs(10));
  PoolOptions pool = TwoStagesOf(&cost, 8);
  EXPECT_EQ(RunOf({.pool = pool}, {{0, 16, 1}}).Of(0).times.last_token,
            TimePs(30));
  EXPECT_THAT(cost.steps, ElementsAre("p8@0 =0", "p8@8 =1"));
  pool.scheduler = &TrtllmScheduler();
  EXPECT_EQ(RunOf({.pool = pool}, {{0, 16, 1}}).Of(0).times.last_token,
            TimePs(40));
}

// Three blocks of 16 for two prompts of 16: the second sequence needs the last
// block at 20, when the first one's step is under way, and so does the first at
// 30. The second is preempted, and starts again once the first has ended.
TEST(SimulationTest, StepsUnderWayKeepTheirBlocks) {
  TwoStages cost(TimePs(10));
  PoolOptions pool = TwoStagesOf(&cost, 16);
  pool.options.num_blocks = 3;
  pool.options.prefix_caching = false;
  const WrittenRun run = RunOf({.pool = pool}, {{0, 16, 18}, {0, 16, 3}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.Of(0).times.preemptions, 0);
  EXPECT_EQ(run.Of(1).times.preemptions, 1);
  // 16 prompt positions and 17 more need three blocks at the 18th step.
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(20 + 17 * 20));
}

// A prompt of 4 and 6 more tokens: with all of 2 drafts accepted, 3 tokens a
// step; the last step has none beyond the end. With none, one token a step.
TEST(SimulationTest, AcceptedDraftsCountAsOutput) {
  WrittenCost cost;
  PoolOptions pool = Vllm(&cost);
  pool.options.draft_tokens = 2;
  pool.options.acceptance_rate = 1;
  WrittenRun run = RunOf({.pool = pool}, {{0, 4, 6}});
  EXPECT_THAT(cost.steps, ElementsAre("p4@0 =1", "d1+2@4 =3", "d1+1@7 =2"));
  EXPECT_EQ(run.Of(0).times.last_token, TimePs(30));
  EXPECT_EQ(run.steps[1].samples, 3);
  EXPECT_EQ(run.steps[1].accepted, 2);
  EXPECT_THAT(run.gaps, ElementsAre(std::pair(TimePs(10), int64_t{1}),
                                    std::pair(TimePs(0), int64_t{2}),
                                    std::pair(TimePs(10), int64_t{1}),
                                    std::pair(TimePs(0), int64_t{1})));
  cost.steps.clear();
  pool.options.acceptance_rate = 0;
  run = RunOf({.pool = pool}, {{0, 4, 4}});
  EXPECT_THAT(cost.steps,
              ElementsAre("p4@0 =1", "d1+2@4 =3", "d1+1@5 =2", "d1@6 =1"));
}

// A step of 5 positions has room for the drafts of one sequence, and cuts those
// of the other.
TEST(SimulationTest, TheBudgetCutsDrafts) {
  WrittenCost cost;
  PoolOptions pool = Vllm(&cost);
  pool.options.max_batched_tokens = 5;
  pool.options.draft_tokens = 3;
  pool.options.acceptance_rate = 1;
  RunOf({.pool = pool}, {{0, 2, 9}, {0, 2, 9}});
  ASSERT_GE(cost.steps.size(), 2u);
  EXPECT_EQ(cost.steps[1], "d2+3@4 =5");
}

// Independent drafts give (1 - a^(K + 1)) / (1 - a) tokens in the mean.
TEST(SimulationTest, DraftsAreAcceptedAtTheirRate) {
  FixedCost cost(TimePs(10));
  PoolOptions pool = Vllm(&cost);
  pool.options.num_blocks = 10'000;
  pool.options.draft_tokens = 3;
  pool.options.acceptance_rate = 0.7;
  const WrittenRun run =
      RunOf({.pool = pool, .seed = 5}, {{0, 10, 40'000}, {0, 9, 40'000}});
  double decodes = 0;
  double tokens = 0;
  for (const StepRecord& step : run.steps) {
    decodes += static_cast<double>(step.decodes);
    if (step.decodes > 0) tokens += static_cast<double>(step.samples);
  }
  EXPECT_NEAR(tokens / decodes, (1 - 0.7 * 0.7 * 0.7 * 0.7) / (1 - 0.7), 0.01);
}

// Sessions of two turns of 64 tokens and 3 of output, with a wait of 50: the
// second turn finds the first block of 64 hashed tokens, and computes the 3
// tokens of the answer and its own. The second session starts when the first
// has ended.
TEST(SimulationTest, ATurnFollowsTheOneBefore) {
  SyntheticOptions synthetic;
  synthetic.lengths = {.prompt_tokens = 64, .output_tokens = 3};
  synthetic.arrivals = ArrivalProcess::kAtOnce;
  synthetic.count = 2;
  synthetic.turns = 2;
  synthetic.turn_wait = TimePs(50);
  synthetic.turn_wait_cv = 0;
  SyntheticRequests source = *SyntheticRequests::Create(synthetic);
  WrittenCost cost;
  const WrittenRun run = RunOf({.pool = Vllm(&cost), .in_flight = 1}, &source);
  EXPECT_THAT(cost.steps,
              ElementsAre("p64@0 =1", "d1@64 =1", "d1@65 =1", "p67@64 =1",
                          "d1@131 =1", "d1@132 =1", "p64@0 =1", "d1@64 =1",
                          "d1@65 =1", "p67@64 =1", "d1@131 =1", "d1@132 =1"));
  EXPECT_THAT(run.Ended(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(run.Of(1).times.arrival, TimePs(80));
  EXPECT_EQ(run.Of(1).times.cached_tokens, 64);
  EXPECT_EQ(run.Of(2).times.arrival, TimePs(110));
}

// 20 blocks of 4 here and 16 on the host; a block takes 5 from there. The
// second prompt pushes the 8 blocks of the first one's hash out. When the third
// request wants them, at 100, they come until 140, and the fourth, which wants
// nothing of the host, starts before it.
TEST(SimulationTest, PrefixesComeBackFromTheHost) {
  WrittenCost cost;
  PoolOptions pool = Vllm(&cost);
  pool.options.block_tokens = 4;
  pool.options.num_blocks = 20;
  pool.options.host_blocks = 16;
  pool.host_block_time = TimePs(5);
  const WrittenRun run = RunOf({.pool = pool}, {{0, 40, 1, {1}, 32},
                                                {50, 70, 1, {2}, 32},
                                                {100, 40, 1, {1}, 32},
                                                {100, 5, 1}});
  ASSERT_TRUE(run.status.ok());
  EXPECT_THAT(cost.steps,
              ElementsAre("p40@0 =1", "p70@0 =1", "p5@0 =1", "p8@32 =1"));
  EXPECT_EQ(run.Of(3).times.first_scheduled, TimePs(100));
  EXPECT_EQ(run.Of(2).times.first_scheduled, TimePs(140));
  EXPECT_EQ(run.Of(2).times.cached_tokens, 32);
  EXPECT_EQ(run.Of(2).times.host_tokens, 32);
}

TEST(SimulationTest, PromptsMoveToTheDecodePool) {
  WrittenCost prefill;
  WrittenCost decode(TimePs(5));
  ServingOptions options = {.pool = Vllm(&prefill), .decode = Vllm(&decode)};
  options.transfer = [](const KvTransfer& transfer) {
    return TimePs(100 + 2 * transfer.tokens);
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
  options.transfer = [](const KvTransfer&) { return TimePs(50); };
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
    options.transfer = [](const KvTransfer& transfer) {
      return TimePs(1000 * transfer.tokens);
    };
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
