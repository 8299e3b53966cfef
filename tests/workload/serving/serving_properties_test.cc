// What holds of every run, whatever the scheduler, the router and the setup:
// identities that the arithmetic of a run cannot break without a bug.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "astra-core/base/random.h"
#include "tests/workload/serving/serving_run.h"
#include "workload/serving/metrics.h"
#include "workload/serving/serving_tables.h"
#include "workload/serving/synthetic_requests.h"

namespace astra::testing {
namespace {

// A setup that the seed draws: replicas with ranks and stages, little memory,
// drafts, prefixes, and sessions.
struct RandomSetup {
  RandomSetup(uint64_t seed, const SchedulerKind& scheduler,
              const RouterKind& router)
      : seed_(seed) {
    BatchingOptions batching = scheduler.defaults;
    batching.num_blocks = From(40, 200) * 32 / batching.block_tokens;
    batching.max_batched_tokens = From(2, 20) * 128;
    batching.chunk_tokens = From(1, 8) * 64;
    batching.max_sequences = From(1, 40);
    batching.max_sequence_tokens = 1024;
    batching.prefix_caching = From(0, 1) > 0;
    batching.chunked_prefill = From(0, 1) > 0;
    batching.prefill_interval = From(1, 4);
    batching.draft_tokens = From(0, 1) * From(1, 4);
    batching.acceptance_rate = static_cast<double>(From(0, 10)) / 10;
    options.pool = {.replicas = From(1, 3),
                    .ranks = From(1, 3),
                    .steps_under_way = From(1, 4),
                    .scheduler = &scheduler,
                    .options = batching,
                    .router = &router,
                    .cost = &cost};
    options.pool.options.host_blocks = From(0, 1) * From(1, 400);
    options.pool.host_block_time = TimePs(From(0, 100'000));
    options.seed = seed;
    const int64_t most =
        std::min<int64_t>(MaxPromptTokens(scheduler, batching), 1024);
    synthetic.turns = From(1, 3);
    const int64_t longest = most / (2 * synthetic.turns);
    synthetic.lengths = {.distribution = LengthDistribution::kGamma,
                         .prompt_tokens = std::min<int64_t>(120, longest),
                         .output_tokens = std::min<int64_t>(30, longest),
                         .max_tokens = longest};
    synthetic.turn_wait = TimePs(From(0, 5'000'000));
    synthetic.per_second = static_cast<double>(From(1, 50)) * 4e3;
    synthetic.count = 150 / synthetic.turns;
    synthetic.prefix_tokens = From(0, 2) * 64;
    synthetic.prefix_groups = From(1, 4);
    synthetic.seed = seed;
  }

  int64_t From(int64_t min, int64_t max) {
    const auto count = static_cast<uint64_t>(max - min + 1);
    return min + static_cast<int64_t>(HashOf(seed_, drawn_++) % count);
  }
  int64_t requests() const { return synthetic.count * synthetic.turns; }
  WrittenRun Run() {
    SyntheticRequests source = *SyntheticRequests::Create(synthetic);
    return RunOf(options, &source);
  }

  TokenCost cost;
  ServingOptions options;
  SyntheticOptions synthetic;

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;
};

template <class Check>
void ForEachSetup(uint64_t seeds, const Check& check) {
  for (const auto kind : kSchedulers) {
    for (const RouterKind& router : Routers()) {
      for (uint64_t seed = 0; seed < seeds; ++seed) {
        RandomSetup setup(seed, kind(), router);
        SCOPED_TRACE(fmt::format("{} {} {}", kind().name, router.name, seed));
        check(setup);
      }
    }
  }
}

TEST(ServingPropertiesTest, TokensAndBlocksAreConserved) {
  ForEachSetup(12, [](RandomSetup& setup) {
    const WrittenRun run = setup.Run();
    ASSERT_TRUE(run.status.ok()) << run.status;
    std::set<int64_t> ids;
    int64_t outputs = 0;
    int64_t computed = 0;  // At least: preempted sequences compute again.
    int64_t preemptions = 0;
    for (const RequestResult& request : run.requests) {
      ids.insert(request.id);
      outputs += request.output_tokens;
      computed += request.prompt_tokens - request.times.cached_tokens;
      preemptions += request.times.preemptions;
      EXPECT_LE(request.times.arrival, request.times.first_scheduled);
      EXPECT_LT(request.times.first_scheduled, request.times.first_token);
      EXPECT_LE(request.times.first_token, request.times.last_token);
    }
    // Each request ends once, preempted or not.
    EXPECT_EQ(run.requests.size(), static_cast<size_t>(setup.requests()));
    EXPECT_EQ(ids.size(), static_cast<size_t>(setup.requests()));
    for (const StepRecord& step : run.steps) {
      outputs -= step.samples;
      computed -= step.prompt_tokens;
      preemptions -= step.preemptions;
      EXPECT_GE(step.used_blocks, 0);
      EXPECT_LE(step.used_blocks + step.cached_blocks, step.num_blocks);
      EXPECT_LE(step.accepted, step.draft_tokens);
      EXPECT_GT(step.duration, TimePs(0));
    }
    EXPECT_EQ(outputs, 0);
    EXPECT_EQ(preemptions, 0);
    EXPECT_LE(computed, 0);
  });
}

// Little's law: the time integral of the number of requests in the system is
// the sum of the times that they spend there. In a closed loop the number is
// known without the requests: it is N until the source has no more.
TEST(ServingPropertiesTest, ClosedLoopsKeepLittlesLaw) {
  ForEachSetup(6, [](RandomSetup& setup) {
    setup.synthetic.turns = 1;
    setup.synthetic.count = 150;
    setup.synthetic.arrivals = ArrivalProcess::kAtOnce;
    const int64_t in_flight = setup.From(1, 30);
    setup.options.in_flight = in_flight;
    const WrittenRun run = setup.Run();
    ASSERT_TRUE(run.status.ok()) << run.status;
    std::vector<int64_t> ends;
    int64_t sum = 0;
    for (const RequestResult& request : run.requests) {
      sum += request.times.end_to_end().count();
      ends.push_back(request.times.last_token.count());
    }
    ASSERT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    // From the end of the request that no other follows, the number falls.
    const int64_t full = ends[ends.size() - static_cast<size_t>(in_flight)];
    int64_t integral = in_flight * full;
    for (const int64_t end : ends) integral += std::max<int64_t>(0, end - full);
    EXPECT_EQ(sum, integral);
    // N = rate x mean time, but for the end, where fewer are in flight.
    const double held =
        static_cast<double>(sum) / static_cast<double>(ends.back());
    EXPECT_LE(held, static_cast<double>(in_flight) * (1 + 1e-12));
    EXPECT_GE(held, static_cast<double>(in_flight * full) /
                        static_cast<double>(ends.back()) * (1 - 1e-12));
  });
}

// Every scheduler starts the requests of a rank in the order of arrival.
TEST(ServingPropertiesTest, FirstComeIsFirstServedOnEachRank) {
  ForEachSetup(6, [](RandomSetup& setup) {
    setup.synthetic.turns = 1;
    // Others pass a sequence that loads.
    setup.options.pool.options.host_blocks = 0;
    WrittenRun run = setup.Run();
    ASSERT_TRUE(run.status.ok()) << run.status;
    std::sort(run.requests.begin(), run.requests.end(),
              [](const RequestResult& a, const RequestResult& b) {
                return a.id < b.id;
              });
    std::map<uint32_t, TimePs> last;
    for (const RequestResult& request : run.requests) {
      TimePs& before = last[request.replica];
      EXPECT_GE(request.times.first_scheduled, before) << request.id;
      before = request.times.first_scheduled;
    }
  });
}

std::string Bytes(const WrittenRun& run) {
  std::string text = RequestsHeader();
  for (const RequestResult& request : run.requests) {
    AppendRequestRow(request, LatencyLimits{}, &text);
  }
  text += StepsHeader();
  for (const StepRecord& step : run.steps) AppendStepRow(step, &text);
  return text;
}

TEST(ServingPropertiesTest, TwoRunsWriteTheSameBytes) {
  ForEachSetup(2, [](RandomSetup& setup) {
    const std::string first = Bytes(setup.Run());
    EXPECT_EQ(first, Bytes(setup.Run()));
  });
}

// With one sequence at a time a replica is a queue with one server, for which
// Lindley's recursion gives every wait: w' = max(0, w + service - gap). It only
// grows when gaps shrink, so that no request waits less at a higher rate. With
// batches no such law holds for single requests or small loads: a step with
// more sequences is longer, but serves more of them at once.
TEST(ServingPropertiesTest, OneSequenceAtATimeWaitsAsLindleySays) {
  for (const auto kind : kSchedulers) {
    std::vector<TimePs> before;
    for (const int64_t gap_scale : {60, 40, 20, 10, 1}) {
      TokenCost cost;
      std::vector<Asked> asked;
      int64_t arrival = 0;
      for (uint64_t i = 0; i < 80; ++i) {
        asked.push_back({arrival, 1 + static_cast<int64_t>(HashOf(1, i) % 60),
                         1 + static_cast<int64_t>(HashOf(2, i) % 20)});
        arrival += gap_scale * static_cast<int64_t>(HashOf(3, i) % 1'000'000);
      }
      BatchingOptions options = kind().defaults;
      options.num_blocks = 4096 / options.block_tokens;
      options.max_sequences = 1;
      const WrittenRun run = RunOf(
          {.pool = {.scheduler = &kind(), .options = options, .cost = &cost}},
          asked);
      ASSERT_TRUE(run.status.ok()) << kind().name;
      std::vector<TimePs> waits;
      int64_t free_at = 0;
      for (size_t i = 0; i < asked.size(); ++i) {
        const int64_t start = std::max(asked[i].arrival, free_at);
        waits.push_back(TimePs(start - asked[i].arrival));
        // One step for the prompt, and one for each further token.
        free_at = start + 1'000'000 * asked[i].output +
                  10'000 * (asked[i].prompt + asked[i].output - 1);
        EXPECT_EQ(run.Of(static_cast<int64_t>(i)).times.queueing(), waits[i])
            << kind().name << " " << i;
        if (!before.empty()) {
          EXPECT_GE(waits[i], before[i]) << kind().name << " " << i;
        }
      }
      before = waits;
    }
  }
}

}  // namespace
}  // namespace astra::testing
