// Simulate() of programs.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "astra-core/engine/simulation.h"
#include "astra-core/results/end_to_end.h"
#include "astra-core/results/links_table.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "workload/program_file.h"

namespace astra {
namespace {

using ::astra::testing::OneServer;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr size_t kTp = IndexOf(ParallelDimension::kTensor);
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

// 4 GPUs at 100 GB/s each way, no delay. Over 2 ranks, a ring all-reduce of
// 1 MB takes 10 us; an all-gather or reduce-scatter of 2 MB, too.
Topology FourGpus() { return OneServer(4, "800Gbps", "0ns"); }

// The result in closed form, with which that of messages must agree but for
// what is rounded.
SimulationResult RunOrDie(const Program& program) {
  const SimulationResult result = ValueOrDie(TryRun(program, FourGpus()));
  SimulationOptions messages;
  messages.lowering = Lowering::kFlowGraph;
  const SimulationResult run =
      ValueOrDie(TryRun(program, FourGpus(), messages));
  EXPECT_NEAR(ToMicroseconds(run.total()), ToMicroseconds(result.total()),
              1e-5 * ToMicroseconds(result.total()));
  return result;
}

TEST(ProgramSimulationTest, StepsFollowOneAnother) {
  // 3 + 10 us forward, 5 us backward; twice; then 7 us.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, tp: 2, micro_batches: 2", R"(
modules:
  - name: a
    forward: [{compute: 3us}, {blocking: all-reduce, over: TP, bytes: 1000000}]
    input_gradient: [{compute: 5us}]
  - name: optimizer
    forward: [{compute: 7us}]
stages: [{run: [{modules: a}], after: optimizer}]
)"));
  EXPECT_EQ(result.compute, Microseconds(23));
  EXPECT_EQ(result.exposed[kTp], Microseconds(20));
  EXPECT_EQ(result.total(), Microseconds(43));
  const PhaseResult& forward = result.layers[0][IndexOf(Phase::kForward)];
  EXPECT_EQ(forward.compute, Microseconds(6));
  EXPECT_EQ(forward.network, Microseconds(20));
  EXPECT_EQ(forward.bytes, Bytes(2'000'000));
  EXPECT_EQ(result.layers[1][IndexOf(Phase::kForward)].compute,
            Microseconds(7));
  ASSERT_EQ(result.collectives.size(), 2u);
  EXPECT_EQ(result.collectives[1].start, Microseconds(21));
}

TEST(ProgramSimulationTest, RecomputationCountsWithTheForwardPhase) {
  const SimulationResult result = RunOrDie(Parse("gpus: 4, tp: 2", R"(
modules:
  - name: a
    forward: [{compute: 1us}]
    recompute:
      - {compute: 2us}
      - {blocking: all-reduce, over: TP, bytes: 1000000}
    input_gradient: [{compute: 4us}]
    weight_gradient: [{compute: 8us}]
stages: [{run: [{times: 2, modules: a}]}]
)"));
  const auto& phases = result.layers[0];
  EXPECT_EQ(phases[IndexOf(Phase::kForward)].compute, Microseconds(6));
  EXPECT_EQ(phases[IndexOf(Phase::kForward)].exposed, Microseconds(20));
  EXPECT_EQ(phases[IndexOf(Phase::kInputGradient)].compute, Microseconds(8));
  EXPECT_EQ(phases[IndexOf(Phase::kWeightGradient)].compute, Microseconds(16));
  EXPECT_EQ(result.total(), Microseconds(50));
}

std::string Prefetching(int compute_us) {
  return fmt::format(R"(
phase: inference
modules:
  - name: a
    forward:
      - {{prefetch: all-gather, over: DP, bytes: 2000000}}
      - {{compute: {}us}}
stages: [{{run: [{{times: 3, modules: a}}]}}]
)",
                     compute_us);
}

TEST(ProgramSimulationTest, APrefetchHidesBehindEnoughComputation) {
  // The first 10 us are waited for, then 3 x 12 us hide the other two.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, tp: 2", Prefetching(12)));
  EXPECT_EQ(result.exposed[kDp], Microseconds(10));
  EXPECT_EQ(result.total(), Microseconds(46));
}

TEST(ProgramSimulationTest, APrefetchIsWaitedForWhereItIsNeeded) {
  // 10 us, then 4 of the next 10 are hidden, twice.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, tp: 2", Prefetching(4)));
  EXPECT_EQ(result.exposed[kDp], Microseconds(22));
  EXPECT_EQ(result.total(), Microseconds(34));
  EXPECT_EQ(result.collectives[1].start, Microseconds(10));
  EXPECT_EQ(result.collectives[2].start, Microseconds(20));
}

TEST(ProgramSimulationTest, APrefetchWaitsForNothingLaunchedAfterIt) {
  // At 10 us b starts its 10 us of gather, and a launches 20 us of scatter
  // behind it at 11. b starts at 20, computes to 25; the scatter ends at 40.
  const SimulationResult result = RunOrDie(Parse("gpus: 4, tp: 2", R"(
phase: inference
modules:
  - name: a
    forward:
      - {prefetch: all-gather, over: DP, bytes: 2000000}
      - {compute: 1us}
      - {launch: reduce-scatter, over: DP, bytes: 4000000}
  - name: b
    forward: [{prefetch: all-gather, over: DP, bytes: 2000000}, {compute: 5us}]
stages: [{run: [{modules: [a, b]}]}]
)"));
  EXPECT_EQ(result.total(), Microseconds(40));
  EXPECT_EQ(result.exposed[kDp], Microseconds(10 + 9 + 15));
  EXPECT_EQ(result.layers[1][0].exposed, Microseconds(9));
}

TEST(ProgramSimulationTest, LaunchesOfTheLastMicroBatchAreWaitedForAtTheEnd) {
  // Three micro-batches of 2 x 4 us. In the last one, b's gradients start at
  // 20 us and a's at 24, behind them: 10 us each, until 40. Then 1 us.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, tp: 2, micro_batches: 3", R"(
modules:
  - name: a
    weight_gradient: &gradient
      - {compute: 4us}
      - {launch: all-reduce, over: DP, bytes: 1000000, when: last}
  - {name: b, weight_gradient: *gradient}
  - {name: end, forward: [{compute: 1us}]}
stages: [{run: [{modules: [a, b]}], after: end}]
)"));
  EXPECT_EQ(result.total(), Microseconds(41));
  EXPECT_EQ(result.exposed[kDp], Microseconds(16));
  EXPECT_EQ(result.collectives[0].start, Microseconds(20));
}

TEST(ProgramSimulationTest, AWaitIsForAllOfItsDimension) {
  // At 1 us: 20 us over DP; at 2 us: 30 us over TP. The wait is for DP only.
  const Program program = Parse("gpus: 4, tp: 2", R"(
modules:
  - name: a
    forward:
      - {compute: 1us}
      - {launch: all-reduce, over: DP, bytes: 1000000}
      - {launch: all-reduce, over: DP, bytes: 1000000}
      - {compute: 1us}
      - {launch: all-reduce, over: TP, bytes: 3000000}
      - {wait: DP}
      - {compute: 2us}
stages: [{run: [{modules: a}]}]
)");
  const SimulationResult result = ValueOrDie(TryRun(program, FourGpus()));
  // The two share each GPU's link from 2 us on. So DP takes until 40 us, the
  // computation until 42 us, and TP, with 11 us left at 40 us, until 51 us.
  EXPECT_EQ(result.exposed[kDp], Microseconds(38));
  EXPECT_EQ(result.exposed[kTp], Microseconds(9));
  EXPECT_EQ(result.total(), Microseconds(51));
}

TEST(ProgramSimulationTest, ContextAndExpertTensorAreDimensions) {
  // CP {0, 1, 2, 3}: 3/4 of 4 MB at 100 GB/s; ETP {0, 1}, {2, 3}: 1/2 of 2 MB.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, cp: 4, ep: 2, etp: 2", R"(
phase: inference
modules:
  - name: a
    forward:
      - {blocking: all-gather, over: CP, bytes: 4000000}
      - {blocking: all-gather, over: ETP, bytes: 2000000}
stages: [{run: [{modules: a}]}]
)"));
  EXPECT_EQ(result.exposed[IndexOf(ParallelDimension::kContext)],
            Microseconds(30));
  EXPECT_EQ(result.exposed[IndexOf(ParallelDimension::kExpertTensor)],
            Microseconds(10));
}

std::string Stages(std::string_view phase) {
  return fmt::format(R"(
pipeline_message: 1000000
phase: {}
modules: [{{name: embed, forward: [{{compute: 2us}}]}},
          {{name: mlp, forward: [{{compute: 6us}}]}}]
stages:
  - run: [{{modules: [embed, mlp]}}]
  - count: 2
    run: [{{times: 2, modules: mlp}}]
  - run: [{{modules: mlp}}]
)",
                     phase);
}

TEST(ProgramSimulationTest, StagesWaitForOneAnother) {
  // Forward only: 8, 12, 12 and 6 us, messages of 10 us. Stage 1 begins at 18
  // and works 5 x 12 us without a gap, until 78; its last message comes to
  // stage 2 at 88, which ends at 100, and to stage 3 at 110, which ends at 116.
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, pp: 4, micro_batches: 5", Stages("inference")));
  EXPECT_EQ(result.total(), Microseconds(116));
  EXPECT_EQ(result.reported_rank, RankId(3));
  EXPECT_EQ(result.compute, Microseconds(30));
  EXPECT_EQ(result.pipeline.num_messages, 5);
  EXPECT_EQ(
      result.stage_time + result.pipeline.bubble + result.pipeline.exposed,
      result.total());
  // Of each 12 us stage 3 waits 6: of those 4 are the message's... the first
  // one comes at 8 + 10 + 12 + 10 + 12 + 10 = 62.
  EXPECT_EQ(result.pipeline.bubble + result.pipeline.exposed,
            Microseconds(62 + 4 * 6));
  EXPECT_EQ(result.link_bytes[0], 5'000'000);
  EXPECT_EQ(result.link_bytes[1], 0);
}

TEST(ProgramSimulationTest, GradientsGoBack) {
  const Program program =
      Parse("gpus: 4, pp: 4, micro_batches: 5", Stages("training"));
  const SimulationResult result = ValueOrDie(TryRun(program, FourGpus()));
  // A stage that sends forward and back at once shares its port between both.
  SimulationOptions messages;
  messages.lowering = Lowering::kFlowGraph;
  const TimePs shared =
      ValueOrDie(TryRun(program, FourGpus(), messages)).total();
  EXPECT_GT(shared, result.total());
  EXPECT_LT(shared, result.total() + 10 * Microseconds(1));
  EXPECT_EQ(result.link_bytes[0], 5'000'000);  // GPU 0 sends 5 forward,
  EXPECT_EQ(result.link_bytes[1], 5'000'000);  // and receives 5 backward.
  EXPECT_EQ(result.pipeline.num_messages, 10);
}

std::string Describe(const CollectiveRecord& record) {
  return fmt::format(
      "{} {} {} {} {} {} {}", record.layer, Name(record.phase),
      Name(record.communication.kind), Name(record.communication.dimension),
      record.communication.bytes, record.lowest_rank, record.time);
}

// How often each collective ran.
std::map<std::string, int64_t> Counts(const SimulationResult& result) {
  std::map<std::string, int64_t> counts;
  for (const CollectiveRecord& record : result.collectives) {
    counts[Describe(record)] += record.count;
  }
  return counts;
}

// Each collective with its start; of those that repeat, the first.
std::set<std::string> Starts(const SimulationResult& result) {
  std::set<std::string> starts;
  for (const CollectiveRecord& record : result.collectives) {
    starts.insert(fmt::format("{} at {}", Describe(record), record.start));
  }
  return starts;
}

// Runs `program` in both ways and compares all that is reported.
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
  EXPECT_EQ(counted.reported_rank, unrolled.reported_rank);
  EXPECT_EQ(counted.exposed, unrolled.exposed);
  EXPECT_EQ(counted.compute, unrolled.compute);
  EXPECT_EQ(EndToEndCsv("run", counted), EndToEndCsv("run", unrolled));
  EXPECT_EQ(LinksCsv(topology, counted), LinksCsv(topology, unrolled));
  EXPECT_EQ(Counts(counted), Counts(unrolled));
  const std::set<std::string> all = Starts(unrolled);
  for (const std::string& start : Starts(counted)) {
    EXPECT_EQ(all.count(start), 1u) << start;
  }
}

// Gradients are launched in every micro-batch and still run in the next one.
constexpr std::string_view kCrossing = R"(
modules:
  - name: a
    forward:
      - {prefetch: all-gather, over: DP, bytes: 200000}
      - {compute: 13us}
      - {blocking: all-reduce, over: TP, bytes: 100001}
    input_gradient: [{compute: 7us}]
    weight_gradient:
      - {compute: 1us}
      - {launch: reduce-scatter, over: DP, bytes: 2000000}
      - {launch: all-reduce, over: DP, bytes: 500000, when: last}
stages: [{run: [{times: 2, modules: a}]}]
)";

TEST(ProgramSimulationTest, CountingIsTheSameAsUnrolling) {
  for (const int micro_batches : {1, 2, 3, 5, 64}) {
    for (const Lowering lowering : kLowerings) {
      SCOPED_TRACE(
          fmt::format("{} {}", micro_batches, static_cast<int>(lowering)));
      ExpectSameUnrolled(
          Parse(fmt::format("gpus: 4, tp: 2, micro_batches: {}", micro_batches),
                kCrossing),
          FourGpus(), lowering);
    }
  }
}

// What is launched takes longer than the micro-batch: more and more is left
// over, so that no two micro-batches end alike.
TEST(ProgramSimulationTest, MicroBatchesThatAreNotAlikeAreAllRun) {
  const Program program = Parse("gpus: 4, tp: 2, micro_batches: 40", R"(
modules:
  - name: a
    forward: [{compute: 10us}, {launch: all-reduce, over: DP, bytes: 1050000}]
stages: [{run: [{modules: a}]}]
)");
  for (const Lowering lowering : kLowerings) {
    ExpectSameUnrolled(program, FourGpus(), lowering);
  }
  // 10 us, then 40 x 10.5 us.
  EXPECT_EQ(RunOrDie(program).total(), Microseconds(430));
}

TEST(ProgramSimulationTest, ManyMicroBatchesTakeFewEvents) {
  const SimulationResult result =
      RunOrDie(Parse("gpus: 4, tp: 2, micro_batches: 32768", kCrossing));
  EXPECT_LT(result.num_events, 200);
  int64_t count = 0;
  for (const CollectiveRecord& record : result.collectives) {
    count += record.count;
  }
  EXPECT_EQ(count, 32768 * 6 + 2);
}

// Without a library for them, a dispatch and a combine are all-to-alls.
TEST(ProgramSimulationTest, DispatchAndCombineTakeTheTimeOfAllToAlls) {
  const auto run = [](std::string_view there, std::string_view back) {
    return RunOrDie(
        Parse("gpus: 4, ep: 4, micro_batches: 3", fmt::format(R"(
modules:
  - name: a
    forward:
      - {{blocking: {0}, over: EP, bytes: 1000000}}
      - {{compute: 3us}}
      - {{launch: {1}, over: EP, bytes: 500000}}
    input_gradient:
      - {{wait: EP}}
      - {{blocking: {0}, over: EP, bytes: 700000}}
stages: [{{run: [{{times: 2, modules: a}}]}}]
)",
                                                              there, back)));
  };
  const SimulationResult same = run("all-to-all", "all-to-all");
  const SimulationResult own = run("dispatch", "combine");
  EXPECT_EQ(own.total(), same.total());
  ASSERT_EQ(own.collectives.size(), same.collectives.size());
  for (size_t i = 0; i < own.collectives.size(); ++i) {
    EXPECT_EQ(own.collectives[i].start, same.collectives[i].start);
    EXPECT_EQ(own.collectives[i].time, same.collectives[i].time);
    EXPECT_NE(own.collectives[i].communication.kind, CollectiveKind::kAllToAll);
  }
}

// A program of random steps on 12 GPUs whose groups lie unevenly.
Program RandomProgram(std::mt19937_64& random) {
  constexpr std::string_view kKinds[] = {"blocking", "launch", "prefetch"};
  constexpr std::string_view kCollectives[] = {
      "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "dispatch"};
  constexpr std::string_view kDimensions[] = {"TP",    "DP", "EP",
                                              "DP_EP", "CP", "ETP"};
  constexpr std::string_view kWhens[] = {"each", "each", "first", "last"};
  const auto pick = [&](const auto& names) {
    return names[random() % std::size(names)];
  };
  std::string text = "modules:\n";
  for (const char name : {'a', 'b', 'c'}) {
    text += fmt::format("  - name: {}\n", name);
    for (const ModulePass pass : kModulePasses) {
      text += fmt::format("    {}:\n", Name(pass));
      for (size_t i = random() % 3; i-- > 0;) {
        text +=
            fmt::format("      - {{{}: {}, over: {}, bytes: {}, when: {}}}\n",
                        pick(kKinds), pick(kCollectives), pick(kDimensions),
                        random() % 400'000, pick(kWhens));
      }
      text += fmt::format("      - {{compute: {}ns}}\n", random() % 9'000);
      if (random() % 8 == 0) {
        text += fmt::format("      - {{wait: {}}}\n", pick(kDimensions));
      }
    }
  }
  text +=
      "  - {name: end, forward: [{compute: 1us}]}\n"
      "stages: [{run: [{times: 2, modules: [a, b]}, {modules: [c, a]}], "
      "after: end}]\n";
  return Parse(fmt::format("gpus: 12, tp: 3, ep: 2, cp: 2, etp: 1, "
                           "micro_batches: {}",
                           1 + random() % 40),
               text);
}

TEST(ProgramSimulationTest, CountingIsTheSameAsUnrollingForAnyProgram) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const Program program = RandomProgram(random);
    SCOPED_TRACE(FormatProgram(program));
    ExpectSameUnrolled(program, Star(3, 4), Lowering::kClosedForm);
    if (round % 8 == 0) {
      ExpectSameUnrolled(program, Star(3, 4), Lowering::kFlowGraph);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// Stages of one module each for each chunk; 3 us forward, 3 and 3 us backward.
std::string Equal(std::string_view schedule, int num_chunks) {
  std::string runs;
  for (int chunk = 0; chunk < num_chunks; ++chunk) {
    runs += fmt::format("{{chunk: {}, modules: a}}, ", chunk);
  }
  return fmt::format(R"(
schedule: {}
modules: [{{name: a, forward: [{{compute: 3us}}],
           input_gradient: [{{compute: 3us}}],
           weight_gradient: [{{compute: 3us}}]}}]
stages: [{{count: 4, run: [{}]}}]
)",
                     schedule, runs);
}

// The time of 4 stages, `micro_batches` and messages that take none. Counted
// repetitions must give what running all of them gives.
TimePs IdealTime(std::string_view schedule, int num_chunks, int micro_batches) {
  const Program program =
      Parse(fmt::format("gpus: 4, pp: 4, vpp: {}, micro_batches: {}",
                        num_chunks, micro_batches),
            Equal(schedule, num_chunks));
  SimulationOptions options;
  options.ideal_network = true;
  const SimulationResult counted =
      ValueOrDie(TryRun(program, FourGpus(), options));
  options.unroll = true;
  const SimulationResult all = ValueOrDie(TryRun(program, FourGpus(), options));
  EXPECT_EQ(counted.total(), all.total());
  EXPECT_EQ(counted.pipeline.bubble, all.pipeline.bubble);
  EXPECT_EQ(counted.compute + counted.pipeline.bubble, counted.total());
  return counted.total();
}

// With p stages, m micro-batches and v chunks, f = b = w = 3 us. Sources: see
// workload/pipeline/schedule.h, which also has the formulas.
TEST(ProgramSimulationTest, BubblesAreThoseOfThePublishedFormulas) {
  for (const int m : {8, 12, 16, 64, 256, 4096}) {
    SCOPED_TRACE(m);
    // (p - 1) / m of the work.
    EXPECT_EQ(IdealTime("gpipe", 1, m), Microseconds(9 * m + 9 * 3));
    EXPECT_EQ(IdealTime("1f1b", 1, m), Microseconds(9 * m + 9 * 3));
    // (p - 1) / (m v) of the work, which is v times as much.
    EXPECT_EQ(IdealTime("interleaved", 2, m), Microseconds(18 * m + 9 * 3));
    EXPECT_EQ(IdealTime("interleaved", 3, m), Microseconds(27 * m + 9 * 3));
    // (p - 1) (f + b - w).
    EXPECT_EQ(IdealTime("zb-h1", 1, m), Microseconds(9 * m + 3 * 3));
    // (p - 1) f.
    EXPECT_EQ(IdealTime("zb-v", 2, m), Microseconds(18 * m + 3 * 3));
    // (p / 2 - 1) (f + b - w): the published (f + 2 (b + w) - 3 w) is of pairs
    // whose results wait for one another.
    EXPECT_EQ(IdealTime("dualpipe", 2, m), Microseconds(9 * m + 3));
  }
}

TEST(ProgramSimulationTest, StopsAtTheLimit) {
  const Program program = Parse("gpus: 4, micro_batches: 1000", R"(
modules: [{name: a, forward: [{compute: 1us}]}]
stages: [{run: [{modules: a}]}]
)");
  SimulationOptions options;
  options.stop_at = Microseconds(250);
  for (const bool unroll : {false, true}) {
    options.unroll = unroll;
    EXPECT_THAT(TryRun(program, FourGpus(), options),
                StatusIs(absl::StatusCode::kAborted,
                         ::testing::StartsWith(
                             "stopped at 250.000 us of simulated time, with "
                             "25.")));
  }
}

TEST(ProgramSimulationTest, RefusesIterationsBeyondTheLimit) {
  const Program program = Parse("gpus: 4, tp: 2, micro_batches: 16777216", R"(
modules: [{name: a, forward: [{blocking: all-reduce, over: TP,
                               bytes: 60000000000}]}]
stages: [{run: [{modules: a}]}]
)");
  // 0.6 s each are 10 million seconds in all.
  EXPECT_THAT(TryRun(program, FourGpus()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the iteration would take longer than the limit of 26 "
                       "days"));
}

TEST(ProgramSimulationTest, RefusesAProgramForAnotherNumberOfGpus) {
  EXPECT_THAT(TryRun(Parse("gpus: 8, tp: 2", Prefetching(1)), FourGpus()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the workload is for 8 GPUs, the topology has 4"));
}

TEST(ProgramSimulationTest, ReportsProgressOverAllStages) {
  SimulationOptions options;
  std::vector<double> fractions;
  options.on_progress = [&](const RunProgress& progress) {
    fractions.push_back(progress.share);
    return absl::OkStatus();
  };
  const Program program = Parse("gpus: 4, pp: 2", R"(
modules: [{name: a, forward: [{compute: 1us}]}]
stages: [{run: [{times: 9000, modules: a}]}, {run: [{times: 9999, modules: a}]}]
)");
  ValueOrDie(TryRun(program, FourGpus(), options));
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  ASSERT_GT(fractions.size(), 4u);
  EXPECT_EQ(fractions.front(), 0);
  // Of 18,999 operations, one report is due in 1,024 at least.
  EXPECT_GT(fractions.back(), 0.94);
  EXPECT_LE(fractions.back(), 1);
}

}  // namespace
}  // namespace astra
