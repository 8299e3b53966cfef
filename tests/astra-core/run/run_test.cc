#include "astra-core/run/run.h"

#include <string>

#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"
#include "workload/program_file.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

// Eight ranks reduce 8 MB over one server, after 1 us of computation.
RunRequest OneAllReduce(Fidelity fidelity) {
  Warnings warnings;
  RunRequest request{
      .program = ValueOrDie(ParseSimaiProgram(
          "w",
          "HYBRID_TRANSFORMER model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 "
          "ga: 1 all_gpus: 8\n1\n"
          "l -1 1000 ALLREDUCE 8000000 0 NONE 0 0 NONE 0 0\n",
          &warnings)),
      .topology = testing::OneServer(8, "800Gbps", "0ns"),
      .fidelity = fidelity,
  };
  return request;
}

// A ring has 14 steps of 1 MB at 100 GB/s, and nothing else in closed form.
// Packets have 2 % of headers, and as much of acknowledgements.
TEST(RunTest, AnswersAtEveryFidelity) {
  const RunResult closed =
      ValueOrDie(astra::Run(OneAllReduce(Fidelity::kClosedForm)));
  EXPECT_TRUE(closed.status.ok());
  EXPECT_EQ(closed.result.total(), Microseconds(141));
  EXPECT_TRUE(closed.network.links.empty());
  for (const Fidelity fidelity :
       {Fidelity::kAnalytical, Fidelity::kFlow, Fidelity::kPacket}) {
    SCOPED_TRACE(Name(fidelity));
    const RunResult run = ValueOrDie(astra::Run(OneAllReduce(fidelity)));
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_GE(run.result.total(), closed.result.total());
    EXPECT_LE(run.result.total().count(),
              closed.result.total().count() * 105 / 100);
  }
}

TEST(RunTest, AStoppedRunGivesWhatThereIs) {
  RunRequest request = OneAllReduce(Fidelity::kFlow);
  request.simulation.stop_at = Microseconds(5);
  const RunResult run = ValueOrDie(astra::Run(request));
  EXPECT_EQ(run.status.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(run.result.collectives.empty());
  EXPECT_FALSE(run.explanation.has_value());
}

// 100 micro-batches that are alike, of which a run to the end needs few.
TEST(RunTest, AStoppedRunIsThatOfAllMicroBatches) {
  RunRequest request = OneAllReduce(Fidelity::kFlow);
  request.program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 8, tp: 8, micro_batches: 100}
modules:
  - name: a
    forward: [{compute: 1us}, {blocking: all-reduce, over: TP, bytes: 8000000}]
stages: [{run: [{modules: a}]}]
)"));
  request.simulation.acceleration = Acceleration::kOff;
  const TimePs whole = ValueOrDie(astra::Run(request)).result.total();
  request.simulation.stop_at = TimePs(whole.count() / 2);
  const RunResult stopped = ValueOrDie(astra::Run(request));
  request.simulation.unroll = true;
  const RunResult unrolled = ValueOrDie(astra::Run(request));
  EXPECT_EQ(stopped.status, unrolled.status);
  EXPECT_EQ(stopped.result.collectives.size(), 50u);
  EXPECT_EQ(stopped.network.num_flows, unrolled.network.num_flows);
  EXPECT_EQ(stopped.result.link_bytes, unrolled.result.link_bytes);
}

TEST(RunTest, RefusesWhatHasNoEffect) {
  RunRequest request = OneAllReduce(Fidelity::kClosedForm);
  request.simulation.symmetric = true;
  EXPECT_THAT(astra::Run(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("closed forms")));
}

// Two GPUs below two leaves that one cable joins: 64 MB each way. From half of
// the time on the cable has a quarter of its rate, so the other half takes four
// times as long: 2.5 times in all. Both networks say so, and which collective.
TEST(RunTest, ACableThatDegradesAtHalfTimeCostsWhatIsLeft) {
  testing::Drawing drawing(2, 1, 0, 2);
  RunRequest request = OneAllReduce(Fidelity::kFlow);
  Warnings warnings;
  request.program = ValueOrDie(ParseSimaiProgram(
      "w",
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
      "all_gpus: 2\n1\n"
      "l -1 1000 ALLREDUCE 64000000 0 NONE 0 0 NONE 0 0\n",
      &warnings));
  request.topology = drawing.Cable(0, 2).Cable(1, 3).Cable(2, 3).Build();
  request.network.packet = DefaultNetwork();
  request.network.flow = FlowOptionsOf(request.network.packet);
  for (const Fidelity fidelity : {Fidelity::kFlow, Fidelity::kPacket}) {
    SCOPED_TRACE(Name(fidelity));
    request.fidelity = fidelity;
    request.events = {};
    const TimePs healthy = ValueOrDie(astra::Run(request)).result.total();
    request.events.links = {{.time = TimePs(healthy.count() / 2),
                             .a = NodeId(3),
                             .b = NodeId(2),
                             .rate_factor = 0.25}};
    const RunResult run = ValueOrDie(astra::Run(request));
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.healthy->total(), healthy);
    EXPECT_NEAR(static_cast<double>(run.result.total().count()) /
                    static_cast<double>(healthy.count()),
                2.5, fidelity == Fidelity::kFlow ? 0.01 : 0.1);
    ASSERT_EQ(run.result.collectives.size(), 1u);
    EXPECT_GT(run.result.collectives[0].time, 2 * healthy);
  }
}

// The fidelities that have no network know slow GPUs.
TEST(RunTest, ASlowGpuIsSlowAtEveryFidelity) {
  for (const Fidelity fidelity : {Fidelity::kClosedForm, Fidelity::kAnalytical,
                                  Fidelity::kFlow, Fidelity::kPacket}) {
    SCOPED_TRACE(Name(fidelity));
    RunRequest request = OneAllReduce(fidelity);
    request.events.speeds = {{TimePs(), RankId(5), 0.5}};
    const RunResult run = ValueOrDie(astra::Run(request));
    EXPECT_NEAR(ToMicroseconds(run.result.total() - run.healthy->total()), 1,
                0.05);
    EXPECT_EQ(run.result.ranks[5].kept_waiting, 7 * Microseconds(1));
  }
}

}  // namespace
}  // namespace astra
