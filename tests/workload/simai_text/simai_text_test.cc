#include "workload/simai_text/simai_text.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

SimaiText ThreeLayers() {
  SimaiText text;
  text.sizes.num_ranks = 8;
  text.layers.resize(3);
  for (size_t i = 0; i < 3; ++i) text.layers[i].name = "abc"[i];
  return text;
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

TEST(SimaiTextTest, EachLayerIsAModuleOfOneStage) {
  SimaiText text = ThreeLayers();
  text.pipeline_message = KiB(4);
  text.layers[1].update = Nanoseconds(7);
  SimaiPhase& forward = text.layers[1].phases[IndexOf(Phase::kForward)];
  forward.compute = Microseconds(3);
  forward.communication = {CollectiveKind::kAllToAll,
                           ParallelDimension::kExpert, Bytes(5)};
  text.layers[1].phases[IndexOf(Phase::kWeightGradient)].communication = {
      CollectiveKind::kAllReduce, ParallelDimension::kData, Bytes(6)};
  const Program program = ValueOrDie(ProgramOf(text));
  EXPECT_EQ(program.schedule(), SimaiSchedule());
  EXPECT_FALSE(program.simulates_pipeline());
  EXPECT_EQ(program.sizes().num_ranks, 8);
  EXPECT_EQ(program.pipeline_message(), KiB(4));
  ASSERT_EQ(program.modules().size(), 3u);
  EXPECT_EQ(program.stage(0).runs[0].modules,
            (std::vector<ModuleId>{ModuleId(0), ModuleId(1), ModuleId(2)}));
  const ProgramModule& b = program.module(ModuleId(1));
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.update, Nanoseconds(7));
  const std::vector<Step>& steps = b.passes[IndexOf(ModulePass::kForward)];
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].compute, Microseconds(3));
  EXPECT_EQ(steps[1].kind, StepKind::kBlocking);
  EXPECT_EQ(steps[1].communication, *forward.communication);
  EXPECT_TRUE(b.passes[IndexOf(ModulePass::kInputGradient)].empty());
  const std::vector<Step>& last =
      b.passes[IndexOf(ModulePass::kWeightGradient)];
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].kind, StepKind::kLaunch);
}

// Layers of one name are different layers, as in every file of AICB.
TEST(SimaiTextTest, LayersMayShareANameAndAStageMayHaveMany) {
  SimaiText text = ThreeLayers();
  text.sizes.pipeline = 4;
  text.sizes.micro_batches = 6;
  for (SimaiLayer& layer : text.layers) layer.name = "mlp";
  EXPECT_EQ(ValueOrDie(ProgramOf(text)).modules().size(), 3u);
}

TEST(SimaiTextTest, RecomputationRunsLayersFromTheNearestCheckpoint) {
  SimaiText text = ThreeLayers();
  text.checkpoints = {0, 1};
  text.recompute_starts = {0, 2};
  const Program program = ValueOrDie(ProgramOf(text));
  EXPECT_EQ(program.module(ModuleId(0)).rerun_from, ModuleId(0));
  EXPECT_EQ(program.module(ModuleId(1)).rerun_from, std::nullopt);
  EXPECT_EQ(program.module(ModuleId(2)).rerun_from, ModuleId(1));
}

TEST(SimaiTextTest, RefusesNoLayer) {
  EXPECT_THAT(ProgramOf({}), Says("there is no layer"));
}

TEST(SimaiTextTest, RefusesSizesThatMakeNoPlan) {
  SimaiText text = ThreeLayers();
  text.sizes.tensor = 3;
  EXPECT_THAT(ProgramOf(text),
              Says("TP 3 x PP 1 does not divide the 8 GPUs: there is no whole "
                   "DP"));
}

TEST(SimaiTextTest, RefusesRecomputationOfWhatIsNoLayer) {
  SimaiText text = ThreeLayers();
  text.checkpoints = {3};
  EXPECT_THAT(ProgramOf(text),
              Says("checkpoint 3 is no layer: the last one is 2"));
  text.checkpoints = {0};
  text.recompute_starts = {2, 3};
  EXPECT_THAT(ProgramOf(text),
              Says("checkpoint_initiate 3 is no layer: the last one is 2"));
}

TEST(SimaiTextTest, RefusesRecomputationWithoutACheckpointBeforeIt) {
  SimaiText text = ThreeLayers();
  text.recompute_starts = {1};
  EXPECT_THAT(ProgramOf(text),
              Says("checkpoint_initiate 1 has no checkpoint at or before it"));
  text.checkpoints = {2};
  EXPECT_THAT(ProgramOf(text),
              Says("checkpoint_initiate 1 has no checkpoint at or before it"));
  text.checkpoints = {1, 2};  // At it will do.
  EXPECT_TRUE(ProgramOf(text).ok());
}

TEST(SimaiTextTest, RefusesLayersOutOfOrder) {
  SimaiText text = ThreeLayers();
  text.checkpoints = {1, 0};
  EXPECT_THAT(ProgramOf(text), Says("the checkpoints are not sorted"));
}

// AICB writes these around the layers of the model; simai.md 2 and its files.
TEST(SimaiTextTest, TheGradientsAndTheOptimizerAreDoneOnce) {
  const auto is_once = [](std::string_view name) {
    SimaiText text = ThreeLayers();
    text.layers[1].name = name;
    return ValueOrDie(ProgramOf(text)).module(ModuleId(1)).is_once;
  };
  for (const std::string_view name :
       {"grad_norm", "grad_gather", "grad_param_comm", "grad_param_compute",
        "embedding_grads", "layernorm", "moe_grad_norm1", "moe_grad_norm2",
        "cross_entropy1", "cross_entropy2", "cross_entropy3", "optimizer1",
        "optimizer2", "optimizer3", "optimizer4"}) {
    EXPECT_TRUE(is_once(name)) << name;
  }
  for (const std::string_view name :
       {"embedding_layer", "embedding_norm", "attention_layer",
        "attention_column", "mlp_row", "mlpp_moelayer", "optimizer",
        "Grad_norm", "grad_norm "}) {
    EXPECT_FALSE(is_once(name)) << name;
  }
}

}  // namespace
}  // namespace astra
