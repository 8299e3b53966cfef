#include "astra-core/run/run.h"

#include <string>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
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

TEST(RunTest, RefusesWhatHasNoEffect) {
  RunRequest request = OneAllReduce(Fidelity::kClosedForm);
  request.simulation.symmetric = true;
  EXPECT_THAT(astra::Run(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("closed forms")));
}

}  // namespace
}  // namespace astra
