// What holds under every scheduler of the table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "astra-core/base/random.h"
#include "tests/workload/serving/serving_run.h"
#include "workload/serving/synthetic_requests.h"

namespace astra::testing {
namespace {

class SchedulerContractTest : public ::testing::TestWithParam<int> {
 protected:
  static const SchedulerKind& Kind() { return kSchedulers[GetParam()](); }

  // 300 requests on a replica with room for a few of them. Hashes of 64 tokens
  // are whole blocks.
  static BatchingOptions Options() {
    BatchingOptions options = Kind().defaults;
    options.num_blocks = 2048 / options.block_tokens;
    options.max_sequence_tokens = 700;
    options.max_batched_tokens = 1024;
    options.chunk_tokens = 128;
    return options;
  }

  static WrittenRun Run(StepCost* cost, int64_t replicas = 1) {
    SyntheticOptions synthetic;
    synthetic.lengths = {.distribution = LengthDistribution::kGamma,
                         .prompt_tokens = 150,
                         .output_tokens = 40,
                         .max_tokens = 340};
    synthetic.per_second = 1e6;
    synthetic.count = 300;
    synthetic.prefix_tokens = 128;
    synthetic.prefix_groups = 3;
    SyntheticRequests source = *SyntheticRequests::Create(synthetic);
    return RunOf({.pool = {.replicas = replicas,
                           .scheduler = &Kind(),
                           .options = Options(),
                           .cost = cost}},
                 &source);
  }
};

TEST_P(SchedulerContractTest, ServesAllRequestsInFull) {
  TokenCost cost;
  const WrittenRun run = Run(&cost);
  ASSERT_TRUE(run.status.ok()) << run.status;
  std::set<int64_t> ids;
  int64_t outputs = 0;
  int64_t prompts = 0;
  int64_t preemptions = 0;
  for (const RequestResult& request : run.requests) {
    ids.insert(request.id);
    outputs += request.output_tokens;
    prompts += request.prompt_tokens - request.times.cached_tokens;
    preemptions += request.times.preemptions;
    EXPECT_LE(request.times.arrival, request.times.first_scheduled);
    EXPECT_LT(request.times.first_scheduled, request.times.first_token);
    EXPECT_LE(request.times.first_token, request.times.last_token);
  }
  EXPECT_EQ(ids.size(), 300u);
  int64_t samples = 0;
  int64_t computed = 0;
  int64_t preempted = 0;
  for (const StepRecord& step : run.steps) {
    samples += step.samples;
    computed += step.prompt_tokens;
    preempted += step.preemptions;
    EXPECT_LE(step.used_blocks + step.cached_blocks, step.num_blocks);
  }
  EXPECT_EQ(samples, outputs);
  EXPECT_EQ(preempted, preemptions);
  if (preemptions == 0) {
    EXPECT_EQ(computed, prompts);
  } else {
    EXPECT_GE(computed, prompts);
  }
  int64_t later_tokens = 0;
  for (const auto& [gap, tokens] : run.gaps) later_tokens += tokens;
  EXPECT_EQ(later_tokens, outputs - 300);
}

TEST_P(SchedulerContractTest, StartsInTheOrderOfArrival) {
  TokenCost cost;
  const WrittenRun run = Run(&cost);
  std::map<int64_t, TimePs> starts;
  for (const RequestResult& request : run.requests) {
    starts[request.id] = request.times.first_scheduled;
  }
  TimePs last;
  for (const auto& [id, start] : starts) {
    EXPECT_GE(start, last) << id;
    last = start;
  }
}

TEST_P(SchedulerContractTest, ReservingSchedulersNeverPreempt) {
  TokenCost cost;
  int64_t preemptions = 0;
  for (const StepRecord& step : Run(&cost).steps) {
    preemptions += step.preemptions;
  }
  const bool may_preempt = Kind().name == "vllm" || Kind().name == "vllm-v0" ||
                           Kind().name == "sarathi" || Kind().name == "sglang";
  if (may_preempt) {
    EXPECT_GT(preemptions, 0) << "the memory is too large for this test";
  } else {
    EXPECT_EQ(preemptions, 0);
  }
}

TEST_P(SchedulerContractTest, ServesTheLongestRequestItAllows) {
  WrittenCost cost;
  const int64_t limit = Kind().max_tokens(Options());
  const int64_t most_prompt = MaxPromptTokens(Kind(), Options());
  for (const int64_t most : {limit - 1, limit - 40, int64_t{1}}) {
    const int64_t prompt = std::min(most, most_prompt);
    ListedRequests source(RequestsOf({{0, prompt, limit - prompt}}));
    const WrittenRun run = RunOf(
        {.pool = {.scheduler = &Kind(), .options = Options(), .cost = &cost}},
        &source);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.requests.size(), 1u);
  }
}

TEST_P(SchedulerContractTest, SameRunTwice) {
  TokenCost cost;
  const WrittenRun a = Run(&cost, 3);
  const WrittenRun b = Run(&cost, 3);
  ASSERT_EQ(a.requests.size(), b.requests.size());
  for (size_t i = 0; i < a.requests.size(); ++i) {
    EXPECT_EQ(a.requests[i].id, b.requests[i].id);
    EXPECT_EQ(a.requests[i].times.last_token, b.requests[i].times.last_token);
  }
}

// The same requests at a higher rate wait no less on average.
TEST_P(SchedulerContractTest, HigherRateNeverLowersTheQueueing) {
  TokenCost cost;
  double before = 0;
  for (const double rate : {2e4, 8e4, 32e4, 128e4, 512e4}) {
    SyntheticOptions synthetic;
    synthetic.lengths = {.prompt_tokens = 100, .output_tokens = 30};
    synthetic.per_second = rate;
    synthetic.count = 300;
    SyntheticRequests source = *SyntheticRequests::Create(synthetic);
    const WrittenRun run = RunOf(
        {.pool = {.scheduler = &Kind(), .options = Options(), .cost = &cost}},
        &source);
    double sum = 0;
    for (const RequestResult& request : run.requests) {
      sum += ToMicroseconds(request.times.queueing());
    }
    EXPECT_GE(sum, before) << rate;
    before = sum;
  }
}

// Draws of one case.
class Case {
 public:
  explicit Case(uint64_t seed) : seed_(seed) {}
  int64_t From(int64_t min, int64_t max) {
    const uint64_t count = static_cast<uint64_t>(max - min + 1);
    return min + static_cast<int64_t>(HashOf(seed_, drawn_++) % count);
  }

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;
};

BatchingOptions AnyOptions(Case* draw) {
  BatchingOptions options;
  options.block_tokens = int64_t{1} << draw->From(0, 4);
  options.num_blocks = draw->From(1, 400 / options.block_tokens);
  options.prefix_caching = draw->From(0, 1) > 0;
  options.watermark = static_cast<double>(draw->From(0, 10)) / 10;
  options.max_batched_tokens = draw->From(1, 200);
  options.max_sequences = draw->From(1, 8);
  options.chunked_prefill = draw->From(0, 1) > 0;
  options.chunk_tokens = draw->From(1, 64);
  options.whole_prompt_must_fit = draw->From(0, 1) > 0;
  options.long_prefill_tokens = draw->From(0, 20);
  options.max_sequence_tokens = draw->From(1, 400);
  options.max_waiting_steps = draw->From(0, 5);
  options.max_prefill_tokens = draw->From(1, 100);
  options.new_token_ratio = static_cast<double>(draw->From(0, 10)) / 10;
  options.min_new_token_ratio = static_cast<double>(draw->From(0, 10)) / 10;
  options.new_token_decay_steps = draw->From(1, 30);
  options.max_expected_tokens = draw->From(1, 50);
  options.retract_decode_steps = draw->From(0, 20);
  options.prefill_interval = draw->From(1, 4);
  options.host_blocks = draw->From(0, 1) * draw->From(1, 100);
  options.draft_tokens = draw->From(0, 3);
  options.acceptance_rate = static_cast<double>(draw->From(0, 10)) / 10;
  if (draw->From(0, 1) > 0) {
    options.held = {
        .states = draw->From(0, 8),
        .windows_per_block = static_cast<double>(draw->From(0, 9)) / 3,
        .most_windows = draw->From(0, 8)};
  }
  // At least room for one token and what a sequence holds beside it.
  options.num_blocks = std::max(options.num_blocks, BlocksOfTokens(1, options));
  return options;
}

// Requests of at most `limit` tokens, `most_prompt` of them in the prompt, with
// prefixes of a few hashes of 16 tokens, some of which reach into the output.
std::vector<Asked> AnyRequests(int64_t limit, int64_t most_prompt, Case* draw) {
  std::vector<Asked> asked;
  int64_t arrival = 0;
  for (int64_t i = draw->From(1, 40); i > 0; --i) {
    arrival += draw->From(0, 30);
    Asked request = {arrival, draw->From(1, 80), draw->From(1, 30), {}, 16};
    if (request.prompt > most_prompt ||
        request.prompt + request.output > limit) {
      continue;
    }
    uint64_t hash = 0;
    for (int64_t k = draw->From(0, 5); k > 0; --k) {
      hash = HashOf(hash, draw->From(0, 1));
      request.hashes.push_back(hash);
    }
    asked.push_back(request);
  }
  return asked;
}

TEST_P(SchedulerContractTest, AnyOptionsServeAllThatFits) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Case draw(seed);
    FixedCost cost(TimePs(10));
    ServingOptions options;
    options.pool = {.replicas = draw.From(1, 2),
                    .ranks = draw.From(1, 2),
                    .steps_under_way = draw.From(1, 3),
                    .scheduler = &Kind(),
                    .options = AnyOptions(&draw),
                    .router = &Routers()[seed % Routers().size()],
                    .cost = &cost};
    int64_t limit = Kind().max_tokens(options.pool.options);
    const int64_t most_prompt = MaxPromptTokens(Kind(), options.pool.options);
    if (draw.From(0, 1) > 0) {
      options.decode = options.pool;
      options.decode->options = AnyOptions(&draw);
      limit = std::min(limit, Kind().max_tokens(options.decode->options));
      const TimePs delay(draw.From(0, 100));
      options.transfer = [delay](const KvTransfer&) { return delay; };
      options.transfer_layers = draw.From(1, 3);
    }
    options.in_flight = draw.From(0, 1) * draw.From(1, 20);
    const std::vector<Asked> asked = AnyRequests(limit, most_prompt, &draw);
    const WrittenRun run = RunOf(options, asked);
    ASSERT_TRUE(run.status.ok()) << seed << ": " << run.status;
    ASSERT_EQ(run.requests.size(), asked.size()) << seed;
    int64_t missing = 0;
    for (const Asked& request : asked) missing += request.output;
    for (const StepRecord& step : run.steps) missing -= step.samples;
    ASSERT_EQ(missing, 0) << seed;
  }
}

// What steps an option changes, from values that fit a small replica.
TEST_P(SchedulerContractTest, HeedsTheOptionsThatItNames) {
  struct Change {
    std::string_view name;
    double before;
    double after;
  };
  constexpr Change kChanges[] = {
      {"max_batched_tokens", 170, 145},  {"chunk_tokens", 64, 16},
      {"chunked_prefill", 0, 1},         {"whole_prompt_must_fit", 0, 1},
      {"long_prefill_tokens", 0, 5},     {"max_sequence_tokens", 150, 300},
      {"prefill_interval", 1, 3},        {"max_waiting_steps", 2, 9},
      {"max_prefill_tokens", 200, 20},   {"new_token_ratio", 0.6, 1},
      {"min_new_token_ratio", 0.1, 0.5}, {"new_token_decay_steps", 2, 200},
      {"max_expected_tokens", 40, 5},    {"retract_decode_steps", 0, 100},
  };
  Case draw(3);
  std::vector<Asked> asked;
  for (int64_t i = 0; i < 200; ++i) {
    asked.push_back({i / 10 * 500, draw.From(20, 100), draw.From(1, 40)});
  }
  BatchingOptions options = Kind().defaults;
  options.num_blocks = 400 / options.block_tokens;
  for (const Change& change : kChanges) {
    ASSERT_TRUE(SetBatchingOption(change.name, change.before, &options).ok());
  }
  options.chunked_prefill = true;
  const BatchingOptions base = options;
  for (const Change& change : kChanges) {
    options = base;
    const double after = change.name == "chunked_prefill" ? 0 : change.after;
    ASSERT_TRUE(SetBatchingOption(change.name, after, &options).ok());
    const bool is_named =
        std::find(Kind().options.begin(), Kind().options.end(), change.name) !=
        Kind().options.end();
    EXPECT_EQ(StepsOf(Kind(), base, asked) != StepsOf(Kind(), options, asked),
              is_named)
        << change.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SchedulerContractTest,
    ::testing::Range(0, static_cast<int>(std::size(kSchedulers))),
    [](const ::testing::TestParamInfo<int>& kind) {
      std::string name(kSchedulers[kind.param]().name);
      std::erase(name, '-');
      return name;
    });

TEST(SchedulersTest, AreFoundByName) {
  EXPECT_EQ(*FindScheduler("VLLM"), &VllmScheduler());
  EXPECT_EQ(FindScheduler("sarati").status().message(),
            "unknown scheduler \"sarati\"; did you mean \"sarathi\"? (known: "
            "vllm, vllm-v0, sarathi, orca, faster-transformer, lightllm, "
            "sglang, trtllm)");
}

TEST(SchedulersTest, OptionsAreSetByName) {
  BatchingOptions options = OrcaScheduler().defaults;
  EXPECT_TRUE(SetBatchingOption("max_batched_tokens", 77, &options).ok());
  EXPECT_EQ(options.max_batched_tokens, 77);
  EXPECT_TRUE(SetBatchingOption("max_sequence_tokens", 78, &options).ok());
  EXPECT_THAT(UnusedOptions(OrcaScheduler(), options),
              ::testing::ElementsAre("max_batched_tokens"));
  EXPECT_EQ(SetBatchingOption("chunk_tokens", 0, &options).message(),
            "chunk_tokens is 0: expected 1 to 1000000000000");
  EXPECT_EQ(SetBatchingOption("chunk_tokens", 1.5, &options).message(),
            "chunk_tokens is 1.5: expected a whole number");
  EXPECT_EQ(SetBatchingOption("chunked_prefill", 2, &options).message(),
            "chunked_prefill is 2: expected 0 or 1");
  EXPECT_THAT(std::string(SetBatchingOption("chunks", 1, &options).message()),
              ::testing::StartsWith("unknown option of schedulers \"chunks\""));
}

TEST(SchedulersTest, OptionsHaveRanges) {
  BatchingOptions options = VllmScheduler().defaults;
  EXPECT_EQ(CheckBatchingOptions(options).message(),
            "num_blocks is 0: expected 1 to 1000000000000");
  options.num_blocks = 10;
  EXPECT_TRUE(CheckBatchingOptions(options).ok());
  options.held = {.states = 9};
  EXPECT_TRUE(CheckBatchingOptions(options).ok());
  options.held = {.states = 9, .windows_per_block = 0.5, .most_windows = 1};
  EXPECT_EQ(CheckBatchingOptions(options).message(),
            "num_blocks is 10: expected at least the 11 of a sequence of one "
            "token, with its windows and states");
  options.held = {};
  options.watermark = 1.5;
  EXPECT_EQ(CheckBatchingOptions(options).message(),
            "watermark is 1.5: expected 0 to 1");
}

}  // namespace
}  // namespace astra::testing
