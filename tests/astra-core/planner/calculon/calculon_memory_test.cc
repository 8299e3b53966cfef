#include "astra-core/planner/calculon/calculon_memory.h"

#include <gtest/gtest.h>

#include "tests/astra-core/planner/calculon/calculon_test_inputs.h"

namespace astra {
namespace {

using ::astra::testing::CalculonInputsWith;

CalculonBlockCost UnitBlock() {
  CalculonBlockCost block;
  block.weights = 1;
  block.working_activations = 10;
  block.stored_activations = 100;
  block.weight_grads = 2;
  block.whole_weight_grads = 1000;
  block.activation_grads = 5;
  block.optimizer_state = 3;
  return block;
}

TEST(CalculonMemoryTest, ABlockIsAddedForEachMicroBatchInFlight) {
  // 4 blocks in 2 chunks; 32 of 64 micro-batches in flight.
  const CalculonSpace space =
      CalculonSpaceOf(CalculonInputsWith({{"pipeline_par", "32"},
                                          {"data_par", "24"},
                                          {"batch_size", "6144"},
                                          {"pipeline_interleaving", "2"},
                                          {"activation_recompute", "none"}}),
                      UnitBlock());
  EXPECT_EQ(space.whole.weights, 4);
  EXPECT_EQ(space.whole.weight_grads, 1000 + 3 * 2);
  EXPECT_EQ(space.whole.optimizer_state, 4 * 3);
  const double in_flight = 32 * (1 + 31.0 / (2 * 32));
  EXPECT_DOUBLE_EQ(space.whole.activations, 10 + 100 * (4 * in_flight - 1));
  EXPECT_DOUBLE_EQ(space.tier1, 4 + space.whole.activations + 1006 + 12 + 5);
  EXPECT_EQ(space.tier2, 0);
}

TEST(CalculonMemoryTest, OffloadedPartsKeepTwoBlocks) {
  const CalculonSpace space =
      CalculonSpaceOf(CalculonInputsWith({{"pipeline_par", "32"},
                                          {"data_par", "24"},
                                          {"weight_offload", "true"},
                                          {"optimizer_offload", "true"},
                                          {"activation_recompute", "none"}}),
                      UnitBlock());
  EXPECT_DOUBLE_EQ(space.tier1, 2 + space.whole.activations + 1002 + 6 + 5);
  EXPECT_EQ(space.tier2, 4 + 4 * 2 + 4 * 3);
}

TEST(CalculonMemoryTest, SaysWhatDoesNotFit) {
  const CalculonInputs inputs =
      CalculonInputsWith({{"activation_recompute", "attn_only"}});
  const absl::Status status = CheckCalculonSpace(
      inputs.system, CalculonSpaceOf(inputs, CalculonBlockCostOf(inputs)));
  EXPECT_EQ(status.message(),
            "mem1 has 80.00 GiB, but the execution needs 240.39 GiB there; "
            "without offloading, a processor has 7.32 GiB of weights, 216.21 "
            "of activations, 0.00 of checkpoints, 5.57 and 7.63 of gradients "
            "of activations and weights, and 3.66 of the optimizer");
}

}  // namespace
}  // namespace astra
