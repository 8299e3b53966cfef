#include "astra-core/planner/calculon/calculon_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "astra-core/planner/calculon/calculon_layers.h"
#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonChanges;
using ::astra::testing::CalculonInputsWith;

// Of the example: s x b x h elements, and a s / h of Korthikanti et al.
constexpr double kElements = 2048.0 * 4 * 25600;
constexpr double kScores = 160.0 * 2048 / 25600;

double StoredWith(CalculonChanges changes) {
  changes.push_back({"fused_activation", "false"});
  return CalculonBlockCostOf(CalculonInputsWith(changes)).stored_activations;
}

// V. Korthikanti et al., "Reducing Activation Recomputation in Large
// Transformer Models", MLSys 2023, equations 1, 2, 4 and 6.
TEST(CalculonBlockTest, ActivationsAreThoseOfKorthikanti) {
  const CalculonChanges alone = {{"num_procs", "768"},
                                 {"tensor_par", "1"},
                                 {"tensor_par_comm_type", "ar"}};
  CalculonChanges all = alone;
  all.push_back({"activation_recompute", "none"});
  EXPECT_DOUBLE_EQ(StoredWith(all), kElements * (34 + 5 * kScores));
  EXPECT_DOUBLE_EQ(StoredWith({{"tensor_par_comm_type", "ar"},
                               {"activation_recompute", "none"}}),
                   kElements * (10 + 24.0 / 4 + 5 * kScores / 4));
  EXPECT_DOUBLE_EQ(StoredWith({{"activation_recompute", "none"},
                               {"seq_par_ag_redo", "true"}}),
                   kElements * (34 + 5 * kScores) / 4);
  EXPECT_DOUBLE_EQ(StoredWith({{"activation_recompute", "attn_only"},
                               {"seq_par_ag_redo", "true"}}),
                   kElements * 34 / 4);
  EXPECT_EQ(StoredWith({}), 0);  // With full recomputation.
}

TEST(CalculonBlockTest, ParametersAreThoseOfTheMatricesAndNorms) {
  const CalculonBlockCost block = CalculonBlockCostOf(CalculonInputsWith({}));
  // 4 h^2 + 2 h f of a block, split by 4, and 2 norms with 2 h.
  const double parameters =
      (4.0 * 25600 * 25600 + 2.0 * 25600 * 102400) / 4 + 4.0 * 25600;
  EXPECT_DOUBLE_EQ(block.weights, 2 * parameters);
  EXPECT_DOUBLE_EQ(block.whole_weight_grads, 4 * parameters);
  EXPECT_DOUBLE_EQ(block.weight_grads, 2 * parameters / 12);
  EXPECT_DOUBLE_EQ(block.optimizer_state, 12 * parameters / 12);
  EXPECT_DOUBLE_EQ(block.checkpoint, 2 * kElements);
  EXPECT_DOUBLE_EQ(block.message_forward, 2 * kElements / 4);
}

// FLOPs of layers whose arithmetic is in the header of calculon_layers.h.
TEST(CalculonBlockTest, FlopsOfLayersAreByElement) {
  std::map<std::string, CalculonLayer> layers;
  const CalculonInputs inputs = CalculonInputsWith({});
  for (const CalculonLayer& layer : CalculonLayersOf(inputs)) {
    layers.emplace(layer.name, layer);
  }
  EXPECT_EQ(layers.size(), 24U);
  const auto flops = [&layers](const std::string& name, CalculonPass pass) {
    return layers.at(name).work[static_cast<size_t>(pass)].flops;
  };
  EXPECT_DOUBLE_EQ(flops("MlpBlock_Mlp1", CalculonPass::kWeightGrad),
                   2 * 8192.0 * 25600 * 102400 / 4);
  EXPECT_DOUBLE_EQ(flops("MlpBlock_LayerNorm", CalculonPass::kActivationGrad),
                   14 * kElements / 4);
  EXPECT_DOUBLE_EQ(flops("AttnBlock_Multihead_SoftMax", CalculonPass::kForward),
                   5.0 * 40 * 2048 * 2048 * 4);
  // Three quarters of a reduce-scatter are sums.
  EXPECT_DOUBLE_EQ(flops("AttnBlock_G", CalculonPass::kForward),
                   kElements * 3 / 4);
}

TEST(CalculonBlockTest, AllReducesBecomeTwoHalvesAtEdges) {
  const CalculonBlockCost block = CalculonBlockCostOf(
      CalculonInputsWith({{"tensor_par_comm_type", "p2p_rs_ag"}}));
  // Two all-reduces in the forward pass; at edges two pairs of halves.
  EXPECT_DOUBLE_EQ(block.tensor_forward.bytes.base, 2 * 2 * kElements);
  EXPECT_DOUBLE_EQ(block.tensor_forward.bytes.edge, 4 * 2 * kElements);
}

}  // namespace
}  // namespace astra
