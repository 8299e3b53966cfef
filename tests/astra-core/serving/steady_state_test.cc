#include "astra-core/serving/steady_state.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tests/testing/matchers.h"
#include "workload/serving/metrics.h"
#include "workload/serving/schedulers/registry.h"
#include "workload/serving/simulation.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr double kPsPerMs = 1e9;

// 5 ms, 0.05 ms for each position and 0.02 ms for each sequence that decodes.
class AffineCost : public StepCost {
 public:
  explicit AffineCost(int64_t stages = 1) : stages_(stages) {}
  TimePs TimeOf(const StepWork& work) override {
    int64_t prompts = 0;
    for (const PromptChunk& chunk : work.chunks) prompts += chunk.tokens;
    const double ms = 5 + 0.05 * static_cast<double>(prompts) +
                      0.07 * static_cast<double>(work.decodes);
    return TimePs(std::llround(ms * kPsPerMs));
  }
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<StageTime>* stages) override {
    const TimePs time(TimeOf(ranks.front()).count() / stages_);
    stages->insert(stages->end(), static_cast<size_t>(stages_), {time});
  }

 private:
  int64_t stages_;
};

BatchingOptions OptionsOf(std::string_view scheduler) {
  BatchingOptions options = ValueOrDie(FindScheduler(scheduler))->defaults;
  options.num_blocks = 100'000 / options.block_tokens;
  options.max_batched_tokens = 1000;
  options.chunk_tokens = 1000;
  options.max_sequences = 256;
  options.chunked_prefill = true;
  return options;
}

struct Replayed {
  ServingSummary summary;
  double ttft() const { return 1e-12 * summary.ttft.mean; }
  double tpot() const { return 1e-12 * summary.tpot.mean; }
};

Replayed Replay(StepCost& cost, std::string_view scheduler,
                const BatchingOptions& options, const SteadyRequests& requests,
                double rate, int64_t in_flight, int64_t count,
                int64_t steps_under_way = 1) {
  SyntheticOptions synthetic;
  synthetic.lengths.prompt_tokens = requests.prompt_tokens;
  synthetic.lengths.output_tokens = requests.output_tokens;
  synthetic.count = count;
  synthetic.seed = 7;
  synthetic.arrivals =
      in_flight > 0 ? ArrivalProcess::kAtOnce : ArrivalProcess::kPoisson;
  if (rate > 0) synthetic.per_second = rate;
  SyntheticRequests source = ValueOrDie(SyntheticRequests::Create(synthetic));
  ServingOptions serving;
  serving.pool = {.steps_under_way = steps_under_way,
                  .scheduler = ValueOrDie(FindScheduler(scheduler)),
                  .options = options,
                  .cost = &cost};
  serving.in_flight = in_flight;
  ServingMetrics metrics;
  EXPECT_TRUE(Serve(serving, &source, &metrics).ok());
  return {metrics.Summary()};
}

// 10 ms, whatever is computed.
class FlatCost : public StepCost {
 public:
  TimePs TimeOf(const StepWork&) override {
    return TimePs(std::llround(10 * kPsPerMs));
  }
};

TEST(SteadyStateTest, FlatStepsGiveWhatLittlesLawSays) {
  FlatCost cost;
  const SteadyState steady({.cost = &cost,
                            .options = OptionsOf("vllm"),
                            .scheduler = "vllm",
                            .request_seconds = 1},
                           {.prompt_tokens = 100, .output_tokens = 101});
  // One other sequence decodes in the mean: 100 steps of 10 ms are 1 s.
  const SteadyLoad load = *steady.AtBatch(2);
  EXPECT_NEAR(load.rate, 1, 1e-9);
  EXPECT_NEAR(load.tpot, 0.01, 1e-12);
  // The step under way has 5 ms left where one is, 1 - 1 / e of the time, and
  // does not end with prompts, of which 9 fit into a step.
  const double residual = 0.005 * (1 - std::exp(-1)) * (1 - 0.01 / 9);
  EXPECT_NEAR(load.ttft, 1 + 0.01 + residual, 1e-9);
  EXPECT_NEAR(load.in_flight, 1 + load.ttft, 1e-9);
  EXPECT_NEAR(steady.AtRate(1)->ttft, load.ttft, 1e-9);
}

TEST(SteadyStateTest, RequestsOfAClosedLoopStayInStep) {
  AffineCost cost;
  const SteadyRequests requests = {.prompt_tokens = 100, .output_tokens = 100};
  // 4 prompts fit into one step, and no other comes while they decode.
  const SteadyLoad vllm =
      SteadyState(
          {.cost = &cost, .options = OptionsOf("vllm"), .scheduler = "vllm"},
          requests)
          .AtConcurrency(4);
  EXPECT_NEAR(vllm.ttft, 0.025, 1e-9);
  EXPECT_NEAR(vllm.tpot, 0.00528, 1e-9);
  EXPECT_NEAR(vllm.rate, 4 / (0.025 + 99 * 0.00528), 1e-9);
  // 16 prompts are 1.6 steps of 55 ms, all before the first of them decodes.
  const SteadyLoad sglang = SteadyState({.cost = &cost,
                                         .options = OptionsOf("sglang"),
                                         .scheduler = "sglang"},
                                        requests)
                                .AtConcurrency(16);
  EXPECT_NEAR(sglang.ttft, 1.3 * 0.055, 1e-9);
  EXPECT_NEAR(sglang.tpot, 0.00612 + 0.3 * 0.055 / 99, 1e-9);
}

TEST(SteadyStateTest, TheCacheAndTheSchedulerLimitWhatIsInFlight) {
  AffineCost cost;
  BatchingOptions options = OptionsOf("vllm");
  options.block_tokens = 16;
  options.num_blocks = 100;
  const SteadyRequests requests = {.prompt_tokens = 100, .output_tokens = 100};
  const auto most = [&](std::string_view scheduler) {
    return SteadyState(
               {.cost = &cost, .options = options, .scheduler = scheduler},
               requests)
        .most_in_flight();
  };
  EXPECT_EQ(most("vllm"), 10);   // 150 positions in the mean: 10 blocks.
  EXPECT_EQ(most("trtllm"), 7);  // 200 positions at once: 13 blocks.
  options.num_blocks = 12;
  EXPECT_EQ(most("vllm"), 0);  // The longest needs 13.
  options.num_blocks = 1000;
  options.max_sequences = 5;
  EXPECT_EQ(most("vllm"), 5);
  EXPECT_THAT(CheckSteadyScheduler("orca"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the closed form has no scheduler \"orca\": expected "
                       "one of vllm, sarathi, sglang, vllm-v0, trtllm"));
}

TEST(SteadyStateTest, StepsUnderWayShareRequestsAndCache) {
  FlatCost cost;
  const SteadyRequests requests = {.prompt_tokens = 100, .output_tokens = 100};
  SteadyReplica replica = {
      .cost = &cost, .options = OptionsOf("vllm"), .scheduler = "vllm"};
  const SteadyLoad one = *SteadyState(replica, requests).AtBatch(5);
  replica.steps_under_way = 4;
  const SteadyLoad four = *SteadyState(replica, requests).AtBatch(20);
  EXPECT_NEAR(four.rate, 4 * one.rate, 1e-9);
  EXPECT_NEAR(four.tpot, one.tpot, 1e-12);
}

// Each of four steps has two sequences, and a prompt of one token comes to it
// once in 99 rounds at random: in a share 1 - exp(-1 / 99) of them. Then it
// takes 0.05 ms more for each, and all four take as long.
TEST(SteadyStateTest, ARoundLastsAsLongAsTheLongestOfItsSteps) {
  AffineCost cost;
  const SteadyReplica replica = {.cost = &cost,
                                 .options = OptionsOf("vllm"),
                                 .scheduler = "vllm",
                                 .steps_under_way = 4};
  const SteadyLoad load =
      *SteadyState(replica, {.prompt_tokens = 1, .output_tokens = 100})
           .AtBatch(8);
  const double share = 1 - std::exp(-1.0 / 99);
  const double prompts = 1.0 / 99 / share;
  const double round =
      0.00514 + 0.00005 * prompts * (1 - std::pow(1 - share, 4));
  EXPECT_NEAR(load.tpot, round, 1e-8);
  EXPECT_NEAR(load.rate, 4 / (99 * round), 1e-4);
}

constexpr SteadyRequests kLengths[] = {
    {100, 100}, {400, 50}, {900, 200}, {3000, 100}};

double ErrorOf(double closed_form, double replayed) {
  return std::abs(closed_form / replayed - 1);
}

// The largest errors of a closed form.
struct Errors {
  double rate = 0;
  double tpot = 0;
  double ttft = 0;

  void Add(const SteadyLoad& load, const Replayed& replayed) {
    tpot = std::max(tpot, ErrorOf(load.tpot, replayed.tpot()));
    ttft = std::max(ttft, ErrorOf(load.ttft, replayed.ttft()));
  }
};

// Calls add(steady, scheduler, options, requests) for all schedulers and
// lengths.
template <class Add>
void ForEachCase(StepCost& cost, Add add, int64_t steps_under_way = 1) {
  for (const std::string_view scheduler : {"vllm", "sglang", "trtllm"}) {
    const BatchingOptions options = OptionsOf(scheduler);
    for (const SteadyRequests requests : kLengths) {
      add(SteadyState({.cost = &cost,
                       .options = options,
                       .scheduler = scheduler,
                       .steps_under_way = steps_under_way},
                      requests),
          scheduler, options, requests);
    }
  }
}

TEST(SteadyStateTest, IsNearTheReplayOfAnOpenLoad) {
  AffineCost cost;
  Errors errors;
  ForEachCase(cost, [&](const SteadyState& steady, std::string_view scheduler,
                        const BatchingOptions& options,
                        const SteadyRequests& requests) {
    for (const double batch : {1.2, 3.0, 8.0, 16.0, 32.0}) {
      const std::optional<SteadyLoad> load = steady.AtBatch(batch);
      const double room = static_cast<double>(steady.most_in_flight()) / 2;
      if (!load || load->in_flight > room) continue;
      errors.Add(*load, Replay(cost, scheduler, options, requests, load->rate,
                               0, 4000));
    }
  });
  EXPECT_LT(errors.tpot, 0.05);
  EXPECT_LT(errors.ttft, 0.12);
}

// Of prompts of one step, of which at most one comes in three rounds.
TEST(SteadyStateTest, IsNearTheReplayOfPipelines) {
  Errors errors;
  for (const int64_t ways : {2, 4, 8}) {
    AffineCost cost(ways);
    const auto add = [&](const SteadyState& steady, std::string_view scheduler,
                         const BatchingOptions& options,
                         const SteadyRequests& requests) {
      if (requests.prompt_tokens >= options.max_batched_tokens) return;
      for (const double batch : {1.2, 3.0, 8.0, 16.0}) {
        const double rounds = static_cast<double>(requests.output_tokens - 1);
        const double in_round =
            static_cast<double>(ways) * (batch - 1) / rounds;
        const std::optional<SteadyLoad> load =
            steady.AtBatch(static_cast<double>(ways) * batch);
        const double room = static_cast<double>(steady.most_in_flight()) / 2;
        if (in_round > 1.0 / 3 || !load || load->in_flight > room) continue;
        errors.Add(*load, Replay(cost, scheduler, options, requests, load->rate,
                                 0, 2000, ways));
      }
    };
    ForEachCase(cost, add, ways);
  }
  EXPECT_LT(errors.tpot, 0.1);
  EXPECT_LT(errors.ttft, 0.23);
}

TEST(SteadyStateTest, IsNearTheReplayOfAClosedLoop) {
  AffineCost cost;
  Errors errors;
  ForEachCase(cost, [&](const SteadyState& steady, std::string_view scheduler,
                        const BatchingOptions& options,
                        const SteadyRequests& requests) {
    for (const int64_t in_flight : {1, 4, 16, 64}) {
      if (in_flight > steady.most_in_flight()) continue;
      const SteadyLoad load = steady.AtConcurrency(in_flight);
      const Replayed replayed = Replay(cost, scheduler, options, requests, 0,
                                       in_flight, 100 * in_flight);
      const ServingSummary& summary = replayed.summary;
      errors.Add(load, replayed);
      errors.rate = std::max(
          errors.rate, ErrorOf(load.rate, summary.PerSecond(summary.requests)));
    }
  });
  EXPECT_LT(errors.rate, 0.01);
  EXPECT_LT(errors.tpot, 0.04);
  EXPECT_LT(errors.ttft, 0.25);
}

TEST(SteadyStateTest, IsNearTheReplayOfSeparatePools) {
  AffineCost cost;
  const SteadyRequests requests = {.prompt_tokens = 400, .output_tokens = 50};
  const BatchingOptions options = OptionsOf("vllm");
  const SteadyState steady(
      {.cost = &cost, .options = options, .scheduler = "vllm", .replicas = 2},
      requests);
  for (const double batch : {2.0, 4.0, 8.0}) {
    // Two replicas for prompts and one that decodes.
    const SteadyLoad decode = *steady.DecodeAtBatch(batch, 0.002);
    const SteadyLoad prefill = *steady.PrefillAtRate(decode.rate / 2);
    SyntheticOptions synthetic;
    synthetic.lengths.prompt_tokens = requests.prompt_tokens;
    synthetic.lengths.output_tokens = requests.output_tokens;
    synthetic.count = 4000;
    synthetic.per_second = decode.rate;
    SyntheticRequests source = ValueOrDie(SyntheticRequests::Create(synthetic));
    ServingOptions serving;
    serving.pool = {.replicas = 2,
                    .scheduler = ValueOrDie(FindScheduler("vllm")),
                    .options = options,
                    .cost = &cost};
    serving.decode = serving.pool;
    serving.decode->replicas = 1;
    serving.transfer = [](const KvTransfer&) { return TimePs(2'000'000'000); };
    ServingMetrics metrics;
    ASSERT_TRUE(Serve(serving, &source, &metrics).ok());
    const Replayed replayed = {metrics.Summary()};
    EXPECT_LT(ErrorOf(decode.tpot, replayed.tpot()), 0.05) << batch;
    EXPECT_LT(ErrorOf(prefill.ttft, replayed.ttft()), 0.25) << batch;
  }
}

}  // namespace
}  // namespace astra
