// Simulate() of programs whose schedule is DualPipe and whose modules exchange
// tokens with experts.

#include <memory>
#include <string>
#include <vector>

#include "astra-core/engine/simulation.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/flow/flow_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "workload/program_file.h"

namespace astra {
namespace {

using ::astra::testing::OneServer;
using ::astra::testing::ValueOrDie;

constexpr size_t kEp = IndexOf(ParallelDimension::kExpert);

// Stages of two chunks of one module each, on two GPUs with EP 2. `forward`,
// `input` and `weight` are steps.
Program Parse(int stages, int micro_batches, std::string_view forward,
              std::string_view input, std::string_view weight) {
  return ValueOrDie(
      ParseProgram("p", fmt::format(R"(simai_program: 1
sizes: {{gpus: {}, pp: {}, ep: 2, vpp: 2, micro_batches: {}}}
schedule: dualpipe
modules: [{{name: a, forward: [{}], input_gradient: [{}],
           weight_gradient: [{}]}}]
stages: [{{count: {}, run: [{{chunk: 0, modules: a}}, {{chunk: 1, modules: a}}]}}]
)",
                                    2 * stages, stages, micro_batches, forward,
                                    input, weight, stages)));
}

// 10 us and an exchange of 4 us forward; an exchange of 6 us and 20 us
// backward: on links of 100 GB/s, half of the bytes go to the other GPU.
Program TenFourSixTwenty(int micro_batches) {
  return Parse(2, micro_batches,
               "{compute: 10us}, {blocking: dispatch, over: EP, bytes: 800000}",
               "{blocking: combine, over: EP, bytes: 1200000}, {compute: 10us}",
               "{compute: 10us}");
}

// This program launches its exchanges and waits for them at once.
Program TenFourSixTwentyLaunched(int micro_batches) {
  return Parse(2, micro_batches,
               "{compute: 10us}, {launch: dispatch, over: EP, bytes: 800000}, "
               "{wait: EP}",
               "{launch: combine, over: EP, bytes: 1200000}, {wait: EP}, "
               "{compute: 10us}",
               "{compute: 10us}");
}

// Messages between stages are of 1 B and take 10 ps each.
constexpr double kMessagesUs = 0.1;

Topology Server(const Program& program) {
  return OneServer(static_cast<uint32_t>(program.sizes().num_ranks), "800Gbps",
                   "0ns");
}

// Runs a program in every way to send messages: the closed form, messages on
// the analytical network, and flows.
std::vector<SimulationResult> RunAll(const Program& program,
                                     SimulationOptions options = {}) {
  const Topology topology = Server(program);
  Routes routes(topology);
  const auto run = [&](Lowering lowering, const NetworkFactory& network) {
    options.lowering = lowering;
    return ValueOrDie(Simulate(program, options, routes, network));
  };
  const auto analytical = [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  };
  const FlowOptions no_packets = {.payload = Bytes(1), .header = Bytes(0)};
  const auto flow = [&] {
    return std::make_unique<FlowBackend>(topology, no_packets);
  };
  return {run(Lowering::kClosedForm, analytical),
          run(Lowering::kFlowGraph, analytical),
          run(Lowering::kFlowGraph, flow)};
}

// Stage 0 runs F0 F2' F1 B2' (F3' B0) B3' I1 W1, and stage 1 the same of the
// other direction at the same time. The pair takes 30 us: the exchange of 6 us
// runs beside the forward's 10 us, and the one of 4 us beside the
// backward's 20. Alone, a forward takes 14 us, a backward 26 us, and I1 with W1
// as long.
TEST(DualPipeSimulationTest, APairTakesTheTimeOfItsComputation) {
  for (const Program& program :
       {TenFourSixTwenty(4), TenFourSixTwentyLaunched(4)}) {
    for (const SimulationResult& result : RunAll(program)) {
      EXPECT_NEAR(ToMicroseconds(result.total()), 3 * 14 + 3 * 26 + 30,
                  kMessagesUs);
      EXPECT_EQ(result.compute, Microseconds(4 * 30));
      EXPECT_NEAR(ToMicroseconds(result.exposed[kEp]), 3 * 4 + 3 * 6,
                  kMessagesUs);
    }
  }
}

// All but three forwards and three backwards of a stage are pairs.
TEST(DualPipeSimulationTest, InTheSteadyPartAllExchangesAreHidden) {
  for (const int micro_batches : {6, 64, 4096}) {
    for (const SimulationResult& result :
         RunAll(TenFourSixTwenty(micro_batches))) {
      EXPECT_NEAR(ToMicroseconds(result.total()),
                  3 * 40 + 30 * (micro_batches - 3), kMessagesUs);
    }
  }
}

TEST(DualPipeSimulationTest, LongExchangesShowWhatComputationDoesNotHide) {
  // The exchanges take 24 us and 36 us, one after another. The forward's starts
  // when the backward's has ended; then 20 us are computed beside it.
  const Program program = Parse(
      2, 4, "{compute: 10us}, {blocking: all-to-all, over: EP, bytes: 4800000}",
      "{blocking: all-to-all, over: EP, bytes: 7200000}, {compute: 20us}",
      "{compute: 0us}");
  for (const SimulationResult& result : RunAll(program)) {
    EXPECT_NEAR(ToMicroseconds(result.total()), 3 * 34 + 3 * 56 + 36 + 24,
                kMessagesUs);
    EXPECT_EQ(result.compute, Microseconds(4 * 30));
  }
}

TEST(DualPipeSimulationTest, WithoutBytesThereAreNoPairs) {
  constexpr std::string_view kCompute = "{compute: 3us}";
  constexpr std::string_view kEmpty =
      "{compute: 3us}, {blocking: dispatch, over: EP, bytes: 0}";
  const auto without = RunAll(Parse(4, 64, kCompute, kCompute, kCompute));
  const auto with = RunAll(Parse(4, 64, kEmpty, kEmpty, kCompute));
  for (size_t i = 0; i < without.size(); ++i) {
    EXPECT_EQ(with[i].total(), without[i].total());
    EXPECT_EQ(with[i].num_events, without[i].num_events);
  }
}

// Results of a pair go on once both halves have ended, as in the code of
// DeepSeek-AI: the bubble is (p / 2 - 1) (F&B + B - 3 w) of table 2 of their
// report, here (f + b + w) + (b + w) - 3 w = 6 us.
TEST(DualPipeSimulationTest, PairsHaveTheBubbleOfTheReport) {
  const std::string exchange =
      "{compute: 3us}, {blocking: dispatch, over: EP, bytes: 1000}";
  SimulationOptions options;
  options.ideal_network = true;
  for (const int micro_batches : {8, 64, 1024}) {
    const Program program =
        Parse(4, micro_batches, exchange, exchange, "{compute: 3us}");
    const Topology topology = Server(program);
    Routes routes(topology);
    const SimulationResult result =
        ValueOrDie(Simulate(program, options, routes, [&] {
          return std::make_unique<AnalyticalBackend>(routes);
        }));
    EXPECT_EQ(result.total(), Microseconds(9 * micro_batches + 6));
  }
}

// Prefetches and launches of both halves share lanes with one another.
TEST(DualPipeSimulationTest, CountingIsTheSameAsUnrolling) {
  const Program program = Parse(
      4, 64,
      "{prefetch: all-gather, over: DP, bytes: 300001}, {compute: 7us}, "
      "{blocking: dispatch, over: EP, bytes: 900000}, {compute: 5us}, "
      "{blocking: combine, over: EP, bytes: 1000003}",
      "{prefetch: all-gather, over: DP, bytes: 300001}, {compute: 3us}, "
      "{launch: dispatch, over: EP, bytes: 700000}, {compute: 2us}, "
      "{wait: EP}, {compute: 11us}, "
      "{blocking: combine, over: EP, bytes: 1300000}",
      "{compute: 9us}, {launch: reduce-scatter, over: DP, bytes: 500000}");
  SimulationOptions unrolled;
  unrolled.unroll = true;
  const auto counted = RunAll(program);
  const auto all = RunAll(program, unrolled);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(counted[i].total(), all[i].total());
    EXPECT_EQ(counted[i].exposed, all[i].exposed);
    EXPECT_EQ(counted[i].compute, all[i].compute);
    EXPECT_EQ(counted[i].link_bytes, all[i].link_bytes);
    EXPECT_GE(all[i].total(), Microseconds(64 * 37));
  }
}

}  // namespace
}  // namespace astra
