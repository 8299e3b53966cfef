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
  // 15 us beside 8 + 10 of work.
  EXPECT_THAT(text, HasSubstr("1f1b            83.33 % of the rank's work; "
                              "equal stages and free messages: 100.00 %\n"));
  EXPECT_THAT(text, HasSubstr("stage 1   rank 2          26.32     0.00     "
                              "0.00    26.32     7.89    39.47\n"));
  EXPECT_THAT(text, HasSubstr("compute 47.37 %, TP 26.32 %, messages 26.32 %"));
  EXPECT_THAT(text, HasSubstr("by stage        0: 60.53 %, 1: 39.47 %"));
  EXPECT_THAT(text,
              HasSubstr("    end fwd, all-reduce over TP                    "
                        "stage 0       x 1          0.010000 ms  26.32 %\n"));
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
