#include "workload/workload.h"

#include <string_view>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

WorkloadParts ThreeLayers() {
  WorkloadParts parts;
  parts.sizes.num_ranks = 8;
  parts.layers = {Layer{.name = "a"}, Layer{.name = "b"}, Layer{.name = "c"}};
  return parts;
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

TEST(WorkloadTest, GivesWhatItIsMadeOf) {
  WorkloadParts parts = ThreeLayers();
  parts.pipeline_message = KiB(4);
  parts.checkpoints = {LayerId(0)};
  parts.recompute_starts = {LayerId(2)};
  const Workload workload = ValueOrDie(Workload::Create(parts));
  EXPECT_EQ(workload.sizes(), parts.sizes);
  EXPECT_EQ(workload.pipeline_message(), KiB(4));
  EXPECT_EQ(workload.layers().size(), 3u);
  EXPECT_EQ(workload.layer(LayerId(1)).name, "b");
}

TEST(WorkloadTest, RefusesNoLayer) {
  EXPECT_THAT(Workload::Create({}), Says("there is no layer"));
}

TEST(WorkloadTest, RefusesSizesThatMakeNoPlan) {
  WorkloadParts parts = ThreeLayers();
  parts.sizes.tensor = 3;
  EXPECT_THAT(Workload::Create(parts),
              Says("TP 3 x PP 1 does not divide the 8 GPUs: there is no whole "
                   "DP"));
}

TEST(WorkloadTest, RefusesNegativeTimesAndSizes) {
  WorkloadParts parts = ThreeLayers();
  parts.pipeline_message = Bytes(-1);
  EXPECT_THAT(Workload::Create(parts),
              Says("the pipeline message is negative"));

  for (const Phase phase : kPhases) {
    parts = ThreeLayers();
    parts.layers[1].phases[IndexOf(phase)].compute = TimePs(-1);
    EXPECT_THAT(Workload::Create(parts),
                Says("layer \"b\": a time or size is negative"));
    parts = ThreeLayers();
    parts.layers[1].phases[IndexOf(phase)].communication = {
        CollectiveKind::kAllReduce, ParallelDimension::kData, Bytes(-1)};
    EXPECT_THAT(Workload::Create(parts),
                Says("layer \"b\": a time or size is negative"));
  }
  parts = ThreeLayers();
  parts.layers[2].update = TimePs(-1);
  EXPECT_THAT(Workload::Create(parts),
              Says("layer \"c\": a time or size is negative"));
}

TEST(WorkloadTest, RefusesRecomputationOfWhatIsNoLayer) {
  WorkloadParts parts = ThreeLayers();
  parts.checkpoints = {LayerId(3)};
  EXPECT_THAT(Workload::Create(parts),
              Says("checkpoint 3 is no layer: the last one is 2"));
  parts.checkpoints = {LayerId(0)};
  parts.recompute_starts = {LayerId(2), LayerId(3)};
  EXPECT_THAT(Workload::Create(parts),
              Says("checkpoint_initiate 3 is no layer: the last one is 2"));
}

TEST(WorkloadTest, RefusesRecomputationWithoutACheckpointBeforeIt) {
  WorkloadParts parts = ThreeLayers();
  parts.recompute_starts = {LayerId(1)};
  EXPECT_THAT(Workload::Create(parts),
              Says("checkpoint_initiate 1 has no checkpoint at or before it"));
  parts.checkpoints = {LayerId(2)};
  EXPECT_THAT(Workload::Create(parts),
              Says("checkpoint_initiate 1 has no checkpoint at or before it"));
  parts.checkpoints = {LayerId(1), LayerId(2)};  // At it will do.
  EXPECT_TRUE(Workload::Create(parts).ok());
}

TEST(WorkloadTest, RefusesLayersOutOfOrder) {
  WorkloadParts parts = ThreeLayers();
  parts.checkpoints = {LayerId(1), LayerId(0)};
  EXPECT_THAT(Workload::Create(parts), Says("the checkpoints are not sorted"));
}

// AICB writes these around the layers of the model; simai.md 2 and its files.
TEST(IsOncePerIterationTest, IsTheGradientsAndTheOptimizer) {
  for (const std::string_view name :
       {"grad_norm", "grad_gather", "grad_param_comm", "grad_param_compute",
        "embedding_grads", "layernorm", "moe_grad_norm1", "moe_grad_norm2",
        "cross_entropy1", "cross_entropy2", "cross_entropy3", "optimizer1",
        "optimizer2", "optimizer3", "optimizer4"}) {
    EXPECT_TRUE(IsOncePerIteration(name)) << name;
  }
  for (const std::string_view name :
       {"", "embedding_layer", "embedding_norm", "attention_layer",
        "attention_column", "mlp_row", "mlpp_moelayer", "optimizer",
        "Grad_norm", "grad_norm "}) {
    EXPECT_FALSE(IsOncePerIteration(name)) << name;
  }
}

}  // namespace
}  // namespace astra
