#include "astra-core/serving/steady_state.h"

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

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
  TimePs TimeOf(const StepWork& work) override {
    int64_t prompts = 0;
    for (const PromptChunk& chunk : work.chunks) prompts += chunk.tokens;
    const double ms = 5 + 0.05 * static_cast<double>(prompts) +
                      0.07 * static_cast<double>(work.decodes);
    return TimePs(std::llround(ms * kPsPerMs));
  }
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
                double rate, int64_t in_flight, int64_t count) {
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
  serving.pool = {.scheduler = ValueOrDie(FindScheduler(scheduler)),
                  .options = options,
                  .cost = &cost};
  serving.in_flight = in_flight;
  ServingMetrics metrics;
  EXPECT_TRUE(Serve(serving, &source, &metrics).ok());
  return {metrics.Summary()};
}

TEST(SteadyStateTest, PROBE) {
  AffineCost cost;
  for (const std::string_view scheduler : {"vllm", "sglang", "trtllm"}) {
    const BatchingOptions options = OptionsOf(scheduler);
    for (const SteadyRequests requests :
         {SteadyRequests{100, 100}, SteadyRequests{400, 50},
          SteadyRequests{900, 200}, SteadyRequests{3000, 100}}) {
      const SteadyState steady(
          {.cost = &cost, .options = options, .scheduler = scheduler},
          requests);
      for (const double batch : {1.2, 3.0, 8.0, 16.0, 32.0, 64.0}) {
        const auto load = steady.AtBatch(batch);
        if (!load) continue;
        const Replayed r =
            Replay(cost, scheduler, options, requests, load->rate, 0, 4000);
        std::printf(
            "%s %ld/%ld b %.1f rate %.2f n %.1f tpot %.2f %.2f (%+.1f%%) ttft "
            "%.1f %.1f (%+.1f%%)\n",
            scheduler.data(), (long)requests.prompt_tokens,
            (long)requests.output_tokens, batch, load->rate, load->in_flight,
            1e3 * load->tpot, 1e3 * r.tpot(), 100 * (load->tpot / r.tpot() - 1),
            1e3 * load->ttft, 1e3 * r.ttft(),
            100 * (load->ttft / r.ttft() - 1));
      }
      for (const int64_t n : {1, 4, 16, 64, 200}) {
        const auto load = steady.AtConcurrency(n);
        const Replayed r =
            Replay(cost, scheduler, options, requests, 0, n, 100 * n);
        const double rate = r.summary.PerSecond(r.summary.requests);
        std::printf(
            "%s %ld/%ld N %ld rate %.2f %.2f (%+.1f%%) tpot %.2f %.2f "
            "(%+.1f%%) ttft %.1f %.1f (%+.1f%%)\n",
            scheduler.data(), (long)requests.prompt_tokens,
            (long)requests.output_tokens, (long)n, load.rate, rate,
            100 * (load.rate / rate - 1), 1e3 * load.tpot, 1e3 * r.tpot(),
            100 * (load.tpot / r.tpot() - 1), 1e3 * load.ttft, 1e3 * r.ttft(),
            100 * (load.ttft / r.ttft() - 1));
      }
    }
  }
}

}  // namespace
}  // namespace astra
