#include "astra-core/engine/breakdown.h"

#include <string>
#include <vector>

#include "astra-core/results/explanation_tables.h"
#include "tests/astra-core/engine/pipelined_runs.h"

namespace astra {
namespace {

using ::astra::testing::ForEachPipelinedRun;
using ::astra::testing::RunWithTimeline;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

TEST(BreakdownTest, ThePartsOfEveryRankAddUpToTheIteration) {
  ForEachPipelinedRun([](const SimulationResult& result) {
    for (const RankResult& rank : result.ranks) {
      TimePs sum;
      for (const TimePart& part : TimePartsOf(rank, result)) sum += part.time;
      ASSERT_EQ(sum, result.total()) << rank.rank.index();
    }
  });
}

// Messages of 5 us, an all-reduce of 10 us. Stage 1 gets its activations at 8
// us and sends gradients at 18; it ends when they have arrived, at 23. Stage 0
// ends with the all-reduce, at 38.
TEST(BreakdownTest, TellsTransfersFromWaitingForOthers) {
  const SimulationResult result =
      RunWithTimeline(ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, pp: 2, tp: 2}
pipeline_message: 500000
modules:
  - {name: a, forward: [{compute: 3us}], input_gradient: [{compute: 5us}]}
  - {name: b, forward: [{compute: 4us}], input_gradient: [{compute: 6us}]}
  - {name: end, forward: [{blocking: all-reduce, over: TP, bytes: 1000000}]}
stages: [{run: [{modules: a}], after: end}, {run: [{modules: b}]}]
)")));
  EXPECT_EQ(result.total(), Microseconds(38));
  EXPECT_EQ(BreakdownCsv(result),
            "stage,rank,ranks,category,group,collective,name,phase,time_us,"
            "share\n"
            "0,0,2,compute,,,a,fwd,3.000000,0.078947\n"
            "0,0,2,compute,,,a,ig,5.000000,0.131579\n"
            "0,0,2,network,TP,all-reduce,end,fwd,10.000000,0.263158\n"
            "0,0,2,transfer,PP,send-recv,pipeline,ig,5.000000,0.131579\n"
            "0,0,2,bubble,PP,send-recv,pipeline,ig,15.000000,0.394737\n"
            "1,2,2,compute,,,b,fwd,4.000000,0.105263\n"
            "1,2,2,compute,,,b,ig,6.000000,0.157895\n"
            "1,2,2,transfer,PP,send-recv,pipeline,fwd,5.000000,0.131579\n"
            "1,2,2,transfer,PP,send-recv,pipeline,ig,5.000000,0.131579\n"
            "1,2,2,bubble,PP,send-recv,pipeline,fwd,3.000000,0.078947\n"
            "1,2,2,idle,,,,,15.000000,0.394737\n");
}

// Ranks of one TP group that begin late keep the others waiting: those of
// jitter.
TEST(BreakdownTest, SaysWhoWaitsForOthers) {
  SimulationOptions options;
  options.jitter = 0.1;
  const SimulationResult result =
      RunWithTimeline(ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, tp: 4}
phase: inference
modules:
  - name: a
    forward: [{compute: 9us}, {blocking: all-reduce, over: TP, bytes: 1000}]
stages: [{run: [{modules: a}]}]
)")),
                      options);
  ASSERT_EQ(result.ranks.size(), 4u);
  int num_late = 0;
  for (const RankResult& rank : result.ranks) {
    TimePs before;  // The joining of the last.
    for (const TimePart& part : TimePartsOf(rank, result)) {
      if (part.category != TimeCategory::kNetwork) before += part.time;
      num_late += part.category == TimeCategory::kLate;
    }
    EXPECT_EQ(before, result.collectives[0].start);
  }
  EXPECT_EQ(num_late, 3);
}

}  // namespace
}  // namespace astra
