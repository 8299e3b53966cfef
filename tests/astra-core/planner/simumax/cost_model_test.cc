#include "astra-core/planner/simumax/cost_model.h"

#include "tests/astra-core/planner/simumax/simumax_test_files.h"

namespace astra {
namespace {

using ::astra::testing::LlamaFiles;
using ::astra::testing::SmallFiles;
using ::testing::DoubleNear;

constexpr double kGib = 1 << 30;

SimumaxTransfer Transfer(std::string_view op, SimumaxGroup group) {
  return {.op = op, .group = group, .bytes = kGib, .stage = "test"};
}

TEST(SimumaxCostsTest, ShapesDecideTheEfficiencyOfCompute) {
  const SimumaxFiles files = SmallFiles();
  SimumaxCosts costs(files.system, files.strategy);
  EXPECT_THAT(
      costs.Of(SimumaxKernel{.op = "matmul", .flops = 1e12, .shape = "exact"})
          .compute_ms,
      DoubleNear(12.5, 1e-9));
  EXPECT_THAT(
      costs.Of(SimumaxKernel{.op = "matmul", .flops = 1e12, .shape = "other"})
          .compute_ms,
      DoubleNear(20, 1e-9));
  EXPECT_EQ(costs.hits().at("matmul").at("exact").efficiency, 0.8);
  EXPECT_EQ(costs.misses().at("matmul").at("other").flops, 1e12);
}

TEST(SimumaxCostsTest, AKernelTakesTheLongerOfComputeAndMemory) {
  SimumaxFiles files = SmallFiles();
  SimumaxCosts costs(files.system, files.strategy);
  const SimumaxKernel kernel = {
      .op = "matmul", .flops = 1e12, .bytes = 50 * kGib, .shape = "exact"};
  EXPECT_THAT(costs.Of(kernel).compute_ms, DoubleNear(100.01, 1e-9));
  EXPECT_EQ(costs.MemoryMs("ce", 0), 0);
  files.system.is_roofline = false;
  SimumaxCosts only_compute(files.system, files.strategy);
  EXPECT_THAT(only_compute.Of(kernel).compute_ms, DoubleNear(12.5, 1e-9));
}

// Four ranks move 2 x 3/4 GiB at 15 GiB/s, with 10 us x (4 - 1) x 2.
TEST(SimumaxCostsTest, CollectivesMoveSharesOfTheBuffer) {
  SimumaxFiles files = SmallFiles();
  files.strategy.tensor = 4;
  SimumaxCosts costs(files.system, files.strategy);
  EXPECT_THAT(costs.Of(Transfer("all_reduce", SimumaxGroup::kTensor)).net_ms,
              DoubleNear(100.06, 1e-9));
  EXPECT_EQ(costs.Of(Transfer("all2all", SimumaxGroup::kExpert)).net_ms, 0);
  const SimumaxNetRecord& record = costs.networks().at("all_reduce").at("test");
  EXPECT_EQ(record.network, "high_intra_node");
  EXPECT_EQ(record.bytes, 1.5 * kGib);
}

// Two nodes. TP 4 leaves DP 4, whose groups share the NICs of a node; of what
// EP sends, half leaves the node over one NIC of eight.
TEST(SimumaxCostsTest, GroupsShareTheNicsOfANode) {
  SimumaxFiles files = SmallFiles();
  files.strategy.gpus = 16;
  files.strategy.tensor = 4;
  files.strategy.expert = 16;
  SimumaxCosts costs(files.system, files.strategy);
  EXPECT_THAT(costs.Of(Transfer("reduce_scatter", SimumaxGroup::kData)).net_ms,
              DoubleNear(0.75 / 4 * 1e3 + 0.060 + 0.005, 1e-9));
  EXPECT_THAT(costs.Of(Transfer("all2all", SimumaxGroup::kExpert)).net_ms,
              DoubleNear(15.0 / 16 / 2 / 2 * 1e3 + 0.300, 1e-9));
  files.strategy.pipeline = 2;
  EXPECT_THAT(costs.Of(Transfer("p2p", SimumaxGroup::kPipeline)).net_ms,
              DoubleNear(1.0 / 2 * 1e3 + 0.020, 1e-9));
  files.strategy.tensor = 1;
  files.strategy.pipeline = 1;
  EXPECT_THAT(costs.Of(Transfer("reduce_scatter", SimumaxGroup::kData)).net_ms,
              DoubleNear(15.0 / 16 / 16 * 1e3 + 0.300 + 0.007, 1e-9));
}

// Gradients of four replicas move at 7 GiB/s, as measured on the A100 with
// PCIe.
TEST(SimumaxCostsTest, PcieHasARateOfItsOwnForGradients) {
  const SimumaxFiles files = LlamaFiles();
  SimumaxCosts costs(files.system, files.strategy);
  EXPECT_EQ(costs.NetworkOf(SimumaxGroup::kData), "intra_node_pcie_4x");
  EXPECT_EQ(costs.NetworkOf(SimumaxGroup::kPipeline), "intra_node_pcie_8x");
  SimumaxFiles alone = LlamaFiles();
  alone.strategy.pipeline = 1;
  alone.strategy.tensor = 2;
  SimumaxCosts of_alone(alone.system, alone.strategy);
  EXPECT_EQ(of_alone.NetworkOf(SimumaxGroup::kData), "intra_node_pcie_8x");
  EXPECT_THAT(
      of_alone.Of(Transfer("reduce_scatter", SimumaxGroup::kData)).net_ms,
      DoubleNear(0.75 / 7 * 1e3, 1e-9));
}

TEST(SimumaxCostsTest, MissingAndUselessEntriesAreErrors) {
  SimumaxFiles files = SmallFiles();
  files.system.operators.at("matmul").efficiency = 0;
  SimumaxCosts costs(files.system, files.strategy);
  costs.Of(SimumaxKernel{.op = "matmul", .flops = 1, .shape = "exact"});
  EXPECT_TRUE(costs.status().ok());
  costs.Of(SimumaxKernel{.op = "matmul", .flops = 1, .shape = "other"});
  EXPECT_EQ(costs.status().message(),
            "y.json:1:1: accelerator.op.matmul.efficient_factor is 0: expected "
            "a number above 0, as it is used");
  files.strategy.gpus = 16;
  files.system.networks.erase("inter_node");
  SimumaxCosts lost(files.system, files.strategy);
  lost.Of(Transfer("all_reduce", SimumaxGroup::kData));
  EXPECT_EQ(lost.status().message(),
            "y.json:1:1: networks has no \"inter_node\", which a group of 16 "
            "ranks uses");
}

}  // namespace
}  // namespace astra
