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
  LayerProgram::Cursor cursor;
  std::vector<std::string> trace;
  for (Op op = program.Next(cursor); op.kind != OpKind::kFinish;
       op = program.Next(cursor)) {
    trace.push_back(fmt::format("{}{}{}", "CBL"[static_cast<int>(op.kind)],
                                op.layer, Name(op.phase).front()));
  }
  EXPECT_EQ(program.Next(cursor), Op());  // And for ever.
  EXPECT_EQ(program.num_ops(), static_cast<int64_t>(trace.size()));
  return trace;
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
