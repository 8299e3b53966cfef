#include "astra-core/engine/critical_path.h"

#include <string>
#include <vector>

#include "astra-core/results/explanation_tables.h"
#include "tests/astra-core/engine/pipelined_runs.h"

namespace astra {
namespace {

using ::astra::testing::ForEachPipelinedRun;
using ::astra::testing::PipelinedProgram;
using ::astra::testing::RunWithTimeline;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

TEST(CriticalPathTest, ItsPiecesAddUpToTheIteration) {
  ForEachPipelinedRun([](const SimulationResult& result) {
    const std::vector<PathPiece> path = CriticalPath(result);
    TimePs sum;
    TimePs end;
    for (const PathPiece& piece : path) {
      ASSERT_EQ(piece.begin, end);
      ASSERT_LT(piece.begin, piece.end);
      end = piece.end;
      sum += piece.time();
    }
    ASSERT_EQ(sum, result.total());
    TimePs parts;
    for (const PathPart& part : PartsOf(path, result)) parts += part.time;
    ASSERT_EQ(parts, result.total());
  });
}

// Two stages of one GPU, messages of 5 us.
SimulationResult RunTwoStages(int micro_batches, bool unroll = false) {
  SimulationOptions options;
  options.unroll = unroll;
  return RunWithTimeline(
      ValueOrDie(ParseProgram("p", fmt::format(R"(simai_program: 1
sizes: {{gpus: 4, pp: 2, tp: 2, micro_batches: {}}}
schedule: 1f1b
pipeline_message: 500000
modules:
  - {{name: a, forward: [{{compute: 3us}}], input_gradient: [{{compute: 5us}}]}}
  - {{name: b, forward: [{{compute: 4us}}], input_gradient: [{{compute: 6us}}]}}
stages: [{{run: [{{modules: a}}]}}, {{run: [{{modules: b}}]}}]
)",
                                               micro_batches))),
      options);
}

std::vector<std::string> Describe(const SimulationResult& result) {
  std::vector<std::string> lines;
  for (const PathPiece& piece : CriticalPath(result)) {
    lines.push_back(
        fmt::format("{}-{} x{} stage {} {} {} {} {}",
                    ToMicroseconds(piece.begin), ToMicroseconds(piece.end),
                    piece.repeats, result.ranks[piece.rank].stage,
                    Name(piece.kind), result.layer_names[piece.layer.index()],
                    Name(piece.phase), piece.micro_batch));
  }
  return lines;
}

// Stage 0 runs F0 F1 B0 B1, stage 1 F0 B0 F1 B1. The first activations are
// there at 8 us and keep stage 1 busy until after the second are, at 13.
TEST(CriticalPathTest, GoesThroughTheStages) {
  EXPECT_THAT(Describe(RunTwoStages(2)),
              ElementsAre("0-3 x1 stage 0 compute a fwd 0",
                          "3-8 x1 stage 1 message pipeline fwd 0",
                          "8-12 x1 stage 1 compute b fwd 0",
                          "12-18 x1 stage 1 compute b ig 0",
                          "18-22 x1 stage 1 compute b fwd 1",
                          "22-28 x1 stage 1 compute b ig 1",
                          "28-33 x1 stage 0 message pipeline ig 1",
                          "33-38 x1 stage 0 compute a ig 1"));
}

std::vector<std::string> Parts(const SimulationResult& result) {
  std::vector<std::string> lines;
  for (const PathPart& part : PartsOf(CriticalPath(result), result)) {
    lines.push_back(
        fmt::format("{}-{} {} {} x{} {}", part.first_stage, part.last_stage,
                    result.layer_names[part.layer.index()], Name(part.phase),
                    part.count, ToMicroseconds(part.time)));
  }
  return lines;
}

// Two micro-batches go round together: each waits for the gradients of the one
// before the last, so that two take 3 + 5 + 4 + 6 + 5 + 5 us.
TEST(CriticalPathTest, CountsTheCircuitThatWasNotRun) {
  const SimulationResult counted = RunTwoStages(1000);
  ASSERT_TRUE(counted.timeline.skipped.has_value());
  EXPECT_LT(CriticalPath(counted).size(), 100u);
  EXPECT_EQ(counted.total(), Microseconds(500 * 28 + 10));
  EXPECT_THAT(Parts(counted),
              ElementsAre("1-1 b ig x501 3006", "1-1 pipeline fwd x500 2500",
                          "0-0 pipeline ig x500 2500", "0-0 a ig x500 2500",
                          "1-1 b fwd x501 2004", "0-0 a fwd x500 1500"));
  EXPECT_EQ(Parts(counted), Parts(RunTwoStages(1000, true)));
}

TEST(CriticalPathTest, WritesALineForEachStay) {
  const SimulationResult result = RunTwoStages(2);
  EXPECT_THAT(CriticalPathCsv(CriticalPath(result), result),
              ::testing::StartsWith(
                  "start_us,time_us,repeats,stage,rank,kind,name,phase,chunk,"
                  "micro_batch,group,collective,bytes\n"
                  "0.000000,3.000000,1,0,0,compute,a,fwd,0,0,,,\n"
                  "3.000000,5.000000,1,1,2,message,pipeline,fwd,0,0,PP,"
                  "send-recv,500000\n"));
}

TEST(CriticalPathTest, IsNotThereWithoutATimeline) {
  EXPECT_TRUE(CriticalPath(SimulationResult()).empty());
}

TEST(CriticalPathTest, IsNotThereIfTheTimelineWouldBeTooLong) {
  const Program program = PipelinedProgram({});
  SimulationOptions options;
  options.max_timeline_ops = 10;
  EXPECT_TRUE(RunWithTimeline(program, options).timeline.empty());
  options.max_timeline_ops = 1000;
  EXPECT_FALSE(RunWithTimeline(program, options).timeline.empty());
}

}  // namespace
}  // namespace astra
