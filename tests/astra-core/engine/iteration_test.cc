// Simulate() of programs with a pipeline, and of what disturbs computation.

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/engine/simulation.h"
#include "astra-core/results/end_to_end.h"
#include "astra-core/results/links_table.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/flow/flow_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"
#include "workload/program_file.h"

namespace astra {
namespace {

using ::astra::testing::OneServer;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr size_t kDp = IndexOf(ParallelDimension::kData);
constexpr Lowering kLowerings[] = {Lowering::kClosedForm, Lowering::kFlowGraph};

Program Parse(std::string_view sizes, std::string_view rest) {
  return ValueOrDie(ParseProgram(
      "p", fmt::format("simai_program: 1\nsizes: {{{}}}\n{}", sizes, rest)));
}

absl::StatusOr<SimulationResult> TryRun(const Program& program,
                                        const Topology& topology,
                                        const SimulationOptions& options = {}) {
  Routes routes(topology);
  return Simulate(program, options, routes,
                  [&] { return std::make_unique<AnalyticalBackend>(routes); });
}

// 100 GB/s each way, no delay: a ring all-reduce of 1 MB over 2 ranks and a
// message of 1 MB take 10 us.
Topology Gpus(uint32_t count) { return OneServer(count, "800Gbps", "0ns"); }

constexpr std::string_view kTwoStages = R"(
pipeline_message: 1000000
modules: [{name: a, forward: [{compute: 20us}],
           input_gradient: [{compute: 30us}],
           weight_gradient: [{compute: 10us}]}]
stages: [{count: 2, run: [{modules: a}]}]
)";

// F is 20 us, B 40, a message 10. Stage 0: F0 0-20, F1 20-40. Stage 1: F0
// 30-50, B0 50-90, F1 90-110, B1 110-150. Stage 0: B0 100-140, B1 160-200.
TEST(IterationTest, TwoStagesAndTwoMicroBatches) {
  const Program program = Parse("gpus: 2, pp: 2, micro_batches: 2", kTwoStages);
  for (const Lowering lowering : kLowerings) {
    SimulationOptions options;
    options.lowering = lowering;
    const SimulationResult result =
        ValueOrDie(TryRun(program, Gpus(2), options));
    EXPECT_EQ(result.total(), Microseconds(200));
    EXPECT_EQ(result.reported_rank, RankId(0));
    EXPECT_EQ(result.compute, Microseconds(120));
    // From 40 to 90 for B0 to be done and from 140 to 150 for B1, each then for
    // its message.
    EXPECT_EQ(result.pipeline.bubble, Microseconds(60));
    EXPECT_EQ(result.pipeline.exposed, Microseconds(20));
    EXPECT_EQ(result.pipeline.num_messages, 4);
    ASSERT_EQ(result.ranks.size(), 2u);
    // It waits until it has handed over the last gradient.
    EXPECT_EQ(result.ranks[1].finish, Microseconds(160));
    EXPECT_EQ(result.ranks[1].exposed, Microseconds(40));
  }
}

// Programs of random stages and steps under each schedule.
Program RandomPipeline(std::string_view schedule, int num_chunks, int stages,
                       int micro_batches, std::mt19937_64& random) {
  std::string text =
      fmt::format("schedule: {}\npipeline_message: {}\nmodules:\n", schedule,
                  random() % 300'000);
  const auto compute = [&] {
    return fmt::format("{{compute: {}ns}}", 1000 + random() % 9'000);
  };
  for (const char name : {'a', 'b', 'c'}) {
    text += fmt::format(
        "  - name: {}\n"
        "    forward: [{}, {{blocking: all-reduce, over: TP, bytes: {}}}]\n"
        "    input_gradient: [{{launch: all-gather, over: TP, bytes: {}}}, {}, "
        "{{wait: TP}}]\n"
        "    weight_gradient: [{}, {{launch: reduce-scatter, over: DP, bytes: "
        "{}, when: last}}]\n",
        name, compute(), random() % 400'000, random() % 400'000, compute(),
        compute(), random() % 4'000'000);
  }
  text += "  - {name: end, forward: [{compute: 1us}]}\nstages:\n";
  for (int stage = 0; stage < stages; ++stage) {
    text += "  - after: end\n    run:\n";
    for (int chunk = 0; chunk < num_chunks; ++chunk) {
      text += fmt::format("      - {{chunk: {}, times: {}, modules: [{}]}}\n",
                          chunk, 1 + random() % 2, "a, b, c");
    }
  }
  return Parse(fmt::format("gpus: {}, tp: 2, pp: {}, vpp: {}, micro_batches: "
                           "{}",
                           4 * stages, stages, num_chunks, micro_batches),
               text);
}

void ExpectSameUnrolled(const Program& program, const Topology& topology,
                        Lowering lowering) {
  SimulationOptions options;
  options.lowering = lowering;
  const SimulationResult counted =
      ValueOrDie(TryRun(program, topology, options));
  options.unroll = true;
  const SimulationResult unrolled =
      ValueOrDie(TryRun(program, topology, options));
  EXPECT_EQ(counted.total(), unrolled.total());
  EXPECT_EQ(counted.pipeline.bubble, unrolled.pipeline.bubble);
  EXPECT_EQ(counted.pipeline.exposed, unrolled.pipeline.exposed);
  EXPECT_EQ(counted.pipeline.num_messages, unrolled.pipeline.num_messages);
  EXPECT_EQ(EndToEndCsv("run", counted), EndToEndCsv("run", unrolled));
  EXPECT_EQ(LinksCsv(topology, counted), LinksCsv(topology, unrolled));
  for (size_t i = 0; i < counted.ranks.size(); ++i) {
    EXPECT_EQ(counted.ranks[i].finish, unrolled.ranks[i].finish);
    EXPECT_EQ(counted.ranks[i].exposed, unrolled.ranks[i].exposed);
    EXPECT_EQ(counted.ranks[i].compute, unrolled.ranks[i].compute);
    EXPECT_EQ(counted.ranks[i].late_in, unrolled.ranks[i].late_in);
  }
}

struct Case {
  PipelineSchedule schedule;
  int num_chunks;
};

// Returns every schedule, with each number of chunks up to 3 that it takes.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const PipelineSchedule schedule : PipelineSchedules()) {
    for (const int chunks : {1, 2, 3}) {
      if (CheckShape(schedule, {4, chunks, 8}).ok()) {
        cases.push_back({schedule, chunks});
      }
    }
  }
  return cases;
}

TEST(IterationTest, CountingIsTheSameAsUnrollingForAnySchedule) {
  std::mt19937_64 random(5);
  for (const Case& one : Cases()) {
    for (const int stages : {2, 4}) {
      for (const int micro_batches : {8, 24, 100, 256}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", Name(one.schedule),
                                 one.num_chunks, stages, micro_batches));
        const Program program = RandomPipeline(
            Name(one.schedule), one.num_chunks, stages, micro_batches, random);
        const Topology topology = Star(static_cast<uint32_t>(stages), 4);
        ExpectSameUnrolled(program, topology, Lowering::kClosedForm);
        if (micro_batches == 100) {
          ExpectSameUnrolled(program, topology, Lowering::kFlowGraph);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(IterationTest, ManyMicroBatchesOfAnyScheduleTakeFewEvents) {
  std::mt19937_64 random(7);
  for (const Case& one : Cases()) {
    if (!one.schedule->has_steady_state) continue;
    SCOPED_TRACE(Name(one.schedule));
    const SimulationResult result = ValueOrDie(TryRun(
        RandomPipeline(Name(one.schedule), one.num_chunks, 4, 32768, random),
        Star(4, 4)));
    EXPECT_LT(result.num_events, 100'000);
  }
}

// What links carry does not depend on how collectives are run.
TEST(IterationTest, ClosedFormsPutOnLinksWhatMessagesDo) {
  std::mt19937_64 random(11);
  for (const Case& one : Cases()) {
    SCOPED_TRACE(Name(one.schedule));
    const Program program =
        RandomPipeline(Name(one.schedule), one.num_chunks, 2, 8, random);
    const Topology topology = Star(2, 4);
    const SimulationResult forms = ValueOrDie(TryRun(program, topology));
    SimulationOptions messages;
    messages.lowering = Lowering::kFlowGraph;
    const SimulationResult flows =
        ValueOrDie(TryRun(program, topology, messages));
    for (size_t link = 0; link < forms.link_bytes.size(); ++link) {
      EXPECT_NEAR(forms.link_bytes[link], flows.link_bytes[link],
                  1e-4 * flows.link_bytes[link] + 1000);
    }
  }
}

// Nothing overlaps, so running one of the ranks that do the same leaves nothing
// out.
TEST(IterationTest, OneRankStandsForThoseThatDoTheSame) {
  const Program program = Parse("gpus: 16, tp: 2, pp: 2, micro_batches: 6", R"(
pipeline_message: 1000000
modules:
  - name: a
    forward: [{compute: 20us}, {blocking: all-reduce, over: TP, bytes: 500000}]
    input_gradient: [{compute: 30us}]
  - {name: reduce, forward: [{blocking: all-reduce, over: DP, bytes: 4000000}]}
stages: [{count: 2, run: [{modules: a}], after: reduce}]
)");
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  const SimulationResult all = ValueOrDie(TryRun(program, Star(4, 4), options));
  options.symmetric = true;
  const SimulationResult one = ValueOrDie(TryRun(program, Star(4, 4), options));
  EXPECT_EQ(one.num_rank_classes, 2u);
  EXPECT_EQ(all.num_rank_classes, 16u);
  EXPECT_EQ(one.total(), all.total());
  EXPECT_EQ(one.exposed, all.exposed);
  EXPECT_EQ(one.pipeline.bubble, all.pipeline.bubble);
}

// 2 MB over 2 ranks take 10 us. Nothing of the forward pass is prefetched, so
// the gather of the backward one is started, and waited for, where it stands.
TEST(IterationTest, APrefetchOfTheBackwardPassAloneIsNotLost) {
  const SimulationResult result = ValueOrDie(TryRun(Parse("gpus: 2", R"(
modules:
  - name: a
    forward: [{compute: 1us}]
    input_gradient: [{prefetch: all-gather, over: DP, bytes: 2000000},
                     {compute: 1us}]
stages: [{run: [{modules: a}]}]
)"),
                                                    Gpus(2)));
  EXPECT_EQ(result.total(), Microseconds(12));
  EXPECT_EQ(result.collectives.size(), 1u);
}

// Calls that the first micro-batch leaves over end as fast as others follow, so
// that as many are always left; but the later ones take longer.
TEST(IterationTest, WhatIsLeftOverMustBeTheSame) {
  const Program program = Parse("gpus: 2, micro_batches: 256", R"(
modules:
  - name: g
    forward: [{launch: all-gather, over: DP, bytes: 200000, when: first}]
  - name: a
    forward: [{compute: 1us}]
    weight_gradient: [{launch: all-gather, over: DP, bytes: 600000}]
stages: [{run: [{times: 20, modules: g}, {modules: a}]}]
)");
  // 20 of 1 us, then 256 of 3 us.
  EXPECT_EQ(ValueOrDie(TryRun(program, Gpus(2))).total(),
            Microseconds(20 + 256 * 3));
}

// The gather of chunk 1 has ended long before; what chunk 0 launches goes on
// beside its computation.
TEST(IterationTest, AChunkWaitsForItsOwnPrefetchOnly) {
  const SimulationResult result = ValueOrDie(TryRun(Parse("gpus: 2, vpp: 2", R"(
schedule: zb-v
modules:
  - name: a
    forward: [{compute: 20us}, {launch: reduce-scatter, over: DP,
                                bytes: 2000000}]
  - name: b
    forward: [{prefetch: all-gather, over: DP, bytes: 2000000},
              {compute: 50us}]
stages: [{run: [{chunk: 0, modules: a}, {chunk: 1, modules: b}]}]
)"),
                                                    Gpus(2)));
  EXPECT_EQ(result.total(), Microseconds(70));
}

// Two servers of 2 GPUs whose ways to each other go over one link of 400 Gbps.
Topology SharedUplink() {
  testing::Drawing drawing(4, 2, 2, 2);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "800Gbps", "0ns");
    drawing.Cable(gpu, 6 + gpu / 2, "400Gbps", "0ns");
  }
  return drawing.Cable(6, 7, "400Gbps", "0ns").Build();
}

// Both groups of DP cross the link at once, so both are run: 1 MB at half of 50
// GB/s is 40 us, and there are two all-reduces of half of it each way.
TEST(IterationTest, GroupsThatShareLinksAreRunTogether) {
  const Topology topology = SharedUplink();
  const Program program = Parse("gpus: 4, tp: 2", R"(
phase: inference
modules: [{name: a, forward: [{blocking: all-reduce, over: DP,
                               bytes: 1000000}]}]
stages: [{run: [{modules: a}]}]
)");
  FlowOptions flow;
  flow.header = Bytes(0);
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  for (const bool symmetric : {false, true}) {
    options.symmetric = symmetric;
    Routes routes(topology);
    const SimulationResult result =
        ValueOrDie(Simulate(program, options, routes, [&] {
          return std::make_unique<FlowBackend>(topology, flow);
        }));
    EXPECT_NEAR(ToMicroseconds(result.total()), 40, 1);
  }
}

constexpr std::string_view kBeside = R"(
phase: inference
modules: [{name: a, forward: [{launch: all-reduce, over: DP, bytes: 1000000},
                              {compute: 8us}, {compute: 9us}]}]
stages: [{run: [{modules: a}]}]
)";

// The all-reduce takes 10 us. At half speed 4 of the first 8 us of work are
// done by 8 us and 5 by 10; the other 3 end at 13, the next 9 at 22.
TEST(IterationTest, CollectivesSlowComputationBesideThem) {
  const Program program = Parse("gpus: 2", kBeside);
  SimulationOptions options;
  EXPECT_EQ(ValueOrDie(TryRun(program, Gpus(2), options)).total(),
            Microseconds(17));
  options.communication_slowdown = 0.5;
  for (const Lowering lowering : kLowerings) {
    options.lowering = lowering;
    const SimulationResult result =
        ValueOrDie(TryRun(program, Gpus(2), options));
    EXPECT_EQ(result.total(), Microseconds(22));
    EXPECT_EQ(result.compute, Microseconds(17));
    EXPECT_EQ(result.slowed, Microseconds(5));
    EXPECT_EQ(result.exposed[kDp], TimePs(0));
  }
}

TEST(IterationTest, TheSlowdownIsThatOfTheProgramsGpu) {
  const Program program =
      Parse("gpus: 2",
            fmt::format("gpu: {{communication_slowdown: 0.5}}{}", kBeside));
  EXPECT_EQ(ValueOrDie(TryRun(program, Gpus(2))).total(), Microseconds(22));
}

TEST(IterationTest, JitterIsThatOfItsSeed) {
  const Program program =
      Parse("gpus: 4, pp: 2, micro_batches: 50", kTwoStages);
  const auto run = [&](double jitter, uint64_t seed) {
    SimulationOptions options;
    options.jitter = jitter;
    options.seed = seed;
    return ValueOrDie(TryRun(program, Gpus(4), options)).total();
  };
  EXPECT_EQ(run(0.1, 1), run(0.1, 1));
  EXPECT_NE(run(0.1, 1), run(0.1, 2));
  EXPECT_GT(run(0.1, 1), run(0, 1));
  EXPECT_LT(run(0.1, 1), run(0.4, 1));
}

TEST(IterationTest, BoundsAreNoLongerThanTheRun) {
  std::mt19937_64 random(13);
  const Program program = RandomPipeline("1f1b", 1, 4, 16, random);
  SimulationOptions options;
  const TimePs total = ValueOrDie(TryRun(program, Star(4, 4), options)).total();
  options.ideal_network = true;
  const SimulationResult compute =
      ValueOrDie(TryRun(program, Star(4, 4), options));
  EXPECT_LT(compute.total(), total);
  EXPECT_EQ(compute.pipeline.exposed, TimePs(0));
  options.ideal_network = false;
  options.ideal_compute = true;
  const SimulationResult network =
      ValueOrDie(TryRun(program, Star(4, 4), options));
  EXPECT_LT(network.total(), total);
  EXPECT_EQ(network.compute, TimePs(0));
}

TEST(IterationTest, OptionsWithoutEffectAreRefused) {
  const Program program = Parse("gpus: 2, pp: 2, micro_batches: 2", kTwoStages);
  SimulationOptions options;
  options.symmetric = true;
  EXPECT_THAT(TryRun(program, Gpus(2), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "closed forms need no network for ranks that do the "
                       "same"));
  options = {};
  options.lowering = Lowering::kFlowGraph;
  options.overlap[IndexOf(ParallelDimension::kPipeline)] = 0.5;
  EXPECT_THAT(TryRun(program, Gpus(2), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the overlap of PP has no effect on messages: only "
                       "closed forms have overlap ratios"));
  options = {};
  options.lowering = Lowering::kFlowGraph;
  options.ideal_network = true;
  EXPECT_THAT(TryRun(program, Gpus(2), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "an ideal network has no messages: it needs closed "
                       "forms"));
}

}  // namespace
}  // namespace astra
