#include "astra-core/engine/layer_program.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

Workload MakeWorkload(uint32_t num_layers, std::vector<LayerId> checkpoints,
                      std::vector<LayerId> starts) {
  WorkloadParts parts;
  parts.checkpoints = std::move(checkpoints);
  parts.recompute_starts = std::move(starts);
  parts.layers.resize(num_layers);
  return ValueOrDie(Workload::Create(std::move(parts)));
}

// "C0f": compute (C), communicate (B, blocking) or launch (L) layer 0, fwd.
std::vector<std::string> Trace(const Workload& workload) {
  const LayerProgram program(workload);
  const OpStream next = program.Begin(0);
  std::vector<std::string> trace;
  for (Op op = next(); op.kind != OpKind::kWaitAll; op = next()) {
    trace.push_back(fmt::format("{}{}{}", "CBL"[static_cast<int>(op.kind)],
                                op.layer, Name(op.phase).front()));
  }
  EXPECT_EQ(next(), Op());  // Finish,
  EXPECT_EQ(next(), Op());  // for ever.
  EXPECT_EQ(program.num_ops(0), static_cast<int64_t>(trace.size()));
  return trace;
}

TEST(LayerProgramTest, AnOperationHasWhatItsPhaseHas) {
  WorkloadParts parts;
  parts.layers.resize(1);
  parts.layers[0].update = Nanoseconds(7);
  LayerPhase& phase = parts.layers[0].phases[IndexOf(Phase::kForward)];
  phase.compute = Microseconds(3);
  phase.communication = {CollectiveKind::kAllToAll, ParallelDimension::kExpert,
                         Bytes(5)};
  const Workload workload = ValueOrDie(Workload::Create(std::move(parts)));
  const LayerProgram program(workload);
  const OpStream next = program.Begin(0);
  EXPECT_EQ(next(), (Op{.kind = OpKind::kCompute, .compute = Microseconds(3)}));
  EXPECT_EQ(next(),
            (Op{.kind = OpKind::kBlocking,
                .lane = LaneOf(ParallelDimension::kExpert),
                .communication =
                    *workload.layers()[0].phase(Phase::kForward).communication,
                .update = Nanoseconds(7)}));
}

TEST(LayerProgramTest, GoesForwardThenBackward) {
  EXPECT_THAT(Trace(MakeWorkload(2, {}, {})),
              ElementsAre("C0f", "B0f", "C1f", "B1f",  //
                          "C1i", "B1i", "C1w", "L1w",  //
                          "C0i", "B0i", "C0w", "L0w"));
}

TEST(LayerProgramTest, RecomputesFromTheNearestCheckpoint) {
  // Layers 0 and 2 are checkpoints. Layer 3 starts from 2, layer 1 from 0.
  EXPECT_THAT(Trace(MakeWorkload(4, {LayerId(0), LayerId(2)},
                                 {LayerId(1), LayerId(3)})),
              ElementsAre("C0f", "B0f", "C1f", "B1f", "C2f", "B2f", "C3f",
                          "B3f",                       //
                          "C2f", "B2f",                // Again, up to 3.
                          "C3i", "B3i", "C3w", "L3w",  //
                          "C2i", "B2i", "C2w", "L2w",  //
                          "C0f", "B0f",                // Again, up to 1.
                          "C1i", "B1i", "C1w", "L1w",  //
                          "C0i", "B0i", "C0w", "L0w"));
}

TEST(LayerProgramTest, ACheckpointThatStartsItselfRecomputesNothing) {
  EXPECT_EQ(Trace(MakeWorkload(3, {LayerId(1)}, {LayerId(1)})),
            Trace(MakeWorkload(3, {}, {})));
}

}  // namespace
}  // namespace astra
