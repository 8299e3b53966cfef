#include "astra-core/results/program_summary.h"

#include <string>

#include "astra-core/engine/work_rates.h"
#include "tests/astra-core/engine/pipelined_runs.h"
#include "tests/testing/schedules.h"

namespace astra {
namespace {

using ::astra::testing::PipelineCase;
using ::astra::testing::PipelinedProgram;
using ::astra::testing::RunWithTimeline;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

// Two stages: 3 + 5 and 4 + 6 us, messages of 5 us, an all-reduce of 10 us.
Program TwoStages(std::string_view more) {
  return ValueOrDie(ParseProgram("p", fmt::format(R"(simai_program: 1
sizes: {{gpus: 4, pp: 2, tp: 2}}
pipeline_message: 500000
{}
modules:
  - {{name: a, forward: [{{compute: 3us}}], input_gradient: [{{compute: 5us}}]}}
  - {{name: b, forward: [{{compute: 4us}}], input_gradient: [{{compute: 6us}}]}}
  - {{name: end, forward: [{{blocking: all-reduce, over: TP, bytes: 1000000}}]}}
stages: [{{run: [{{modules: a}}], after: end}}, {{run: [{{modules: b}}]}}]
)",
                                                  more)));
}

Bounds FindBounds(const Program& program, const Topology& topology,
                  const SimulationOptions& options = {}) {
  Routes routes(topology);
  return ValueOrDie(BoundsOf(program, options, routes, [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  }));
}

TEST(BoundsTest, LeaveOutOneHalf) {
  const Bounds bounds = FindBounds(TwoStages(""), testing::Star(1, 4));
  EXPECT_EQ(bounds.ideal_network, Microseconds(3 + 4 + 6 + 5));
  EXPECT_EQ(bounds.ideal_compute, Microseconds(5 + 5 + 10));
  EXPECT_EQ(DescribeBounds(bounds, Microseconds(40)),
            "  with an ideal network        0.018000 ms   55.00 % less\n"
            "  communication alone          0.020000 ms   50.00 % less\n");
}

TEST(BoundsTest, AreThoseOfClosedFormsForMessages) {
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  options.message_costs.per_message = Microseconds(6);
  const Bounds bounds = FindBounds(TwoStages(""), testing::Star(1, 4), options);
  EXPECT_EQ(bounds.ideal_compute, Microseconds(20));
}

TEST(WorkRatesTest, DivideTheWorkByTimeAndGpus) {
  const Program program = TwoStages(
      "gpu: {peak_tflops: 500}\n"
      "work: {tokens: 1000, model_flops: 8e9}");
  // 8 GFLOP on 4 GPUs in 10 us.
  const WorkRates rates = RatesOf(program, Microseconds(10));
  EXPECT_DOUBLE_EQ(rates.tflops_per_gpu, 200);
  EXPECT_DOUBLE_EQ(rates.utilisation, 0.4);
  EXPECT_DOUBLE_EQ(rates.tokens_per_second, 1e8);
  EXPECT_DOUBLE_EQ(rates.tokens_per_second_per_gpu, 2.5e7);
  EXPECT_THAT(DescribeRates(rates),
              HasSubstr("200.0 TFLOP/s per GPU, 40.0 % of its peak (MFU)\n"));
}

TEST(WorkRatesTest, SayNothingOfWhatIsNotKnown) {
  EXPECT_EQ(DescribeRates(RatesOf(TwoStages(""), Microseconds(10))), "");
}

TEST(ProgramSummaryTest, SaysWhereTheTimeGoesAndWhy) {
  const Program program = TwoStages("");
  const Topology topology = testing::Star(1, 4);
  const SimulationResult result = RunWithTimeline(program);
  const std::string text =
      DescribeTime(program, topology, result, CriticalPath(result),
                   FindBounds(program, topology));
  EXPECT_THAT(text, HasSubstr("iteration                    0.038000 ms"));
  EXPECT_THAT(text, HasSubstr("pipeline bubble              0.015000 ms"));
  // With equal stages the rank would idle as long as it works, 18 us.
  EXPECT_THAT(text, HasSubstr("1f1b            0.015000 ms, as with equal "
                              "stages and free messages\n"));
  EXPECT_THAT(text, HasSubstr("stage 1   rank 2          26.32     0.00     "
                              "0.00    26.32     7.89    39.47\n"));
  EXPECT_THAT(text, HasSubstr("compute 47.37 %, TP 26.32 %, messages 26.32 %"));
  EXPECT_THAT(text, HasSubstr("by stage        0: 60.53 %, 1: 39.47 %"));
  EXPECT_THAT(text,
              HasSubstr("    end fwd, all-reduce over TP                    "
                        "stage 0       x 1          0.010000 ms  26.32 %\n"));
}

// The first stage works 2 us for each of 4 micro-batches, the second one 20 us:
// one micro-batch, 2 us, is what 1F1B leaves idle, the rest is waiting.
TEST(ProgramSummaryTest, TellsSlowStagesFromTheSchedulesBubble) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, pp: 2, tp: 2, micro_batches: 4}
modules:
  - {name: a, forward: [{compute: 1us}], input_gradient: [{compute: 1us}]}
  - {name: b, forward: [{compute: 10us}], input_gradient: [{compute: 10us}]}
stages: [{run: [{modules: a}]}, {run: [{modules: b}]}]
)"));
  const SimulationResult result = RunWithTimeline(program);
  const std::string text =
      DescribeTime(program, testing::Star(1, 4), result, CriticalPath(result),
                   FindBounds(program, testing::Star(1, 4)));
  EXPECT_THAT(text, HasSubstr("iteration                    0.082000 ms"));
  EXPECT_THAT(text, HasSubstr("pipeline bubble              0.074000 ms"));
  EXPECT_THAT(text, HasSubstr("1f1b            0.002000 ms, as with equal "
                              "stages and free messages\n"
                              "    waiting         0.072000 ms, for slower "
                              "stages and messages\n"));
}

// GPU 3 has a quarter of the others' rate to the switch between the servers.
// All ranks end with the last all-reduce, so rank 0 is reported.
TEST(ProgramSummaryTest, NamesTheLinkThatHoldsUpAllOthers) {
  testing::Drawing drawing(4, 2, 2, 1);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "800Gbps", "0ns");
    drawing.Cable(gpu, 6, gpu == 3 ? "100Gbps" : "400Gbps", "0ns");
  }
  const Topology topology = drawing.Build();
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, tp: 2}
modules:
  - name: a
    forward:
      - {blocking: all-reduce, over: DP, bytes: 1000000}
      - {blocking: all-reduce, over: TP, bytes: 1000000}
stages: [{run: [{modules: a}]}]
)"));
  SimulationOptions options;
  options.record_timeline = true;
  Routes routes(topology);
  const SimulationResult result =
      ValueOrDie(Simulate(program, options, routes, [&] {
        return std::make_unique<AnalyticalBackend>(routes);
      }));
  EXPECT_EQ(result.reported_rank, RankId(0));
  EXPECT_THAT(
      DescribeTime(program, topology, result, CriticalPath(result),
                   FindBounds(program, topology)),
      HasSubstr("communication bound by switch 6 (tier 1) -> GPU 3 at 100 Gbps"
                "             0.080000 ms  88.89 %\n"));
}

// The closed forms of workload/pipeline/schedule.h with f = b = w = 1.
TEST(ProgramSummaryTest, KnowsWhatSchedulesLeaveIdle) {
  const auto share = [](const PipelineCase& run) {
    return IdealBubbleShare(PipelinedProgram(run));
  };
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("gpipe"), 4, 1, 8}), 3.0 / 8);
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("1f1b"), 4, 1, 8}), 3.0 / 8);
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("interleaved"), 4, 2, 8}),
                   3.0 * 3 / (2 * 8 * 3));
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("zb-h1"), 4, 1, 8}), 3.0 * 1 / (8 * 3));
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("zb-v"), 4, 2, 8}),
                   3.0 * 1 / (2 * 8 * 3));
  EXPECT_DOUBLE_EQ(share({ScheduleNamed("dualpipe"), 4, 2, 8}),
                   1.0 * 1 / (8 * 3));
}

}  // namespace
}  // namespace astra
