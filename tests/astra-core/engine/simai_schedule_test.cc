// The order in which a rank goes through the layers of SimAI's text.

#include <string>
#include <utility>
#include <vector>

#include "astra-core/engine/pipeline_program.h"
#include "tests/testing/matchers.h"
#include "workload/simai_text/simai_text.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

Program MakeProgram(uint32_t num_layers, std::vector<uint32_t> checkpoints,
                    std::vector<uint32_t> starts) {
  SimaiText text;
  text.sizes.micro_batches = 3;
  text.checkpoints = std::move(checkpoints);
  text.recompute_starts = std::move(starts);
  text.layers.resize(num_layers);
  for (SimaiLayer& layer : text.layers) {
    layer.name = "layer";
    for (SimaiPhase& phase : layer.phases) {
      phase.compute = Nanoseconds(1);
      phase.communication = {CollectiveKind::kAllReduce,
                             ParallelDimension::kTensor, Bytes(1)};
    }
  }
  return ValueOrDie(ProgramOf(text));
}

// "C0f": compute (C), communicate (B, blocking) or launch (L) layer 0, fwd.
std::vector<std::string> Trace(const Program& program) {
  const PipelineProgram run(program, 1, 1);
  EXPECT_EQ(run.num_stages(), 1u);
  const OpStream next = run.Begin(0);
  std::vector<std::string> trace;
  for (Op op = next(); op.kind != OpKind::kWaitAll; op = next()) {
    if (op.kind == OpKind::kRepetition) continue;
    trace.push_back(fmt::format("{}{}{}", "CBL"[static_cast<int>(op.kind)],
                                op.layer, Name(op.phase).front()));
  }
  EXPECT_EQ(next(), Op());  // Finish,
  EXPECT_EQ(next(), Op());  // for ever.
  return trace;
}

TEST(SimaiScheduleTest, CollectivesEndLaterByTheUpdate) {
  SimaiText text;
  text.layers.resize(1);
  text.layers[0].name = "layer";
  text.layers[0].update = Nanoseconds(7);
  SimaiPhase& phase = text.layers[0].phases[IndexOf(Phase::kForward)];
  phase.communication = {CollectiveKind::kAllToAll, ParallelDimension::kExpert,
                         Bytes(5)};
  const Program program = ValueOrDie(ProgramOf(text));
  const PipelineProgram run(program, 1, 1);
  const Op op = run.Begin(0)();
  EXPECT_EQ(op.kind, OpKind::kBlocking);
  EXPECT_EQ(op.lane, LaneOf(ParallelDimension::kExpert));
  EXPECT_EQ(op.communication, *phase.communication);
  EXPECT_EQ(op.update, Nanoseconds(7));
}

// Each layer once, whatever the number of micro-batches.
TEST(SimaiScheduleTest, GoesForwardThenBackward) {
  EXPECT_THAT(Trace(MakeProgram(2, {}, {})),
              ElementsAre("C0f", "B0f", "C1f", "B1f",  //
                          "C1i", "B1i", "C1w", "L1w",  //
                          "C0i", "B0i", "C0w", "L0w"));
}

TEST(SimaiScheduleTest, RecomputesFromTheNearestCheckpoint) {
  // Layers 0 and 2 are checkpoints. Layer 3 starts from 2, layer 1 from 0.
  EXPECT_THAT(Trace(MakeProgram(4, {0, 2}, {1, 3})),
              ElementsAre("C0f", "B0f", "C1f", "B1f", "C2f", "B2f", "C3f",
                          "B3f",                       //
                          "C2f", "B2f",                // Again, up to 3.
                          "C3i", "B3i", "C3w", "L3w",  //
                          "C2i", "B2i", "C2w", "L2w",  //
                          "C0f", "B0f",                // Again, up to 1.
                          "C1i", "B1i", "C1w", "L1w",  //
                          "C0i", "B0i", "C0w", "L0w"));
}

TEST(SimaiScheduleTest, ACheckpointThatStartsItselfRecomputesNothing) {
  EXPECT_EQ(Trace(MakeProgram(3, {1}, {1})), Trace(MakeProgram(3, {}, {})));
}

}  // namespace
}  // namespace astra
