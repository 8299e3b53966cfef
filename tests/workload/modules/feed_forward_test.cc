#include "workload/modules/feed_forward.h"

#include <variant>

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::CollectiveTexts;
using ::astra::testing::OperatorOf;
using ::astra::testing::SmallDeepSeek;
using ::astra::testing::SmallGpt;
using ::astra::testing::SmallLlama;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;

constexpr ModulePass kForward = ModulePass::kForward;
constexpr ModulePass kInput = ModulePass::kInputGradient;

// Two sequences of 32 positions: 64 tokens.
ModuleContext SmallContext(int64_t tensor = 1) {
  ModuleContext context;
  context.tensor = tensor;
  context.sequences = 2;
  context.positions = 32;
  return context;
}

TEST(FeedForwardTest, GatesHaveThreeMatrices) {
  const auto modules = FeedForwardModules(SmallLlama(), SmallContext());
  EXPECT_EQ(modules.at(0).name, "mlp_column");
  EXPECT_EQ(modules.at(1).name, "mlp_row");
  EXPECT_EQ(modules[0].parameters, 64 + 64 * 2 * 192);
  EXPECT_EQ(modules[1].parameters, 192 * 64);
  EXPECT_EQ(std::get<Gemm>(OperatorOf(modules[0], kForward, "ffn_up").shape),
            (Gemm{1, 64, 384, 64}));
  EXPECT_EQ(std::get<Gemm>(OperatorOf(modules[1], kForward, "ffn_down").shape),
            (Gemm{1, 64, 64, 192}));
  EXPECT_THAT(StepTexts(modules[0], kForward),
              ElementsAre("rms_norm", "ffn_up", "swiglu"));
  EXPECT_THAT(StepTexts(modules[1], kInput),
              ElementsAre("residual_add", "ffn_down"));
}

TEST(FeedForwardTest, GatesReadTwoInputs) {
  const auto modules = FeedForwardModules(SmallLlama(), SmallContext());
  // Two read, one written; backward, three read and two written, of 2 B.
  EXPECT_EQ(BytesMoved(OperatorOf(modules[0], kForward, "swiglu")),
            64 * 192 * 3 * 2);
  EXPECT_EQ(BytesMoved(OperatorOf(modules[0], kInput, "swiglu")),
            64 * 192 * 5 * 2);
  // Of each token, in BF16: the input of the norm and of the product, both
  // inputs of the gate, and what it gives.
  EXPECT_EQ(modules[0].saved_bytes, 64 * 2 * (64 + 64 + 2 * 192));
  EXPECT_EQ(modules[1].saved_bytes, 64 * 2 * 192);
}

TEST(FeedForwardTest, GeluHasTwoMatrices) {
  const auto modules = FeedForwardModules(SmallGpt(), SmallContext(2));
  // 128 columns on each rank. The norm has a bias, and so have both products,
  // of which that of the second is not split.
  EXPECT_EQ(modules[0].parameters, 2 * 64 + 64 * 128 + 128);
  EXPECT_EQ(modules[0].replicated_parameters, 2 * 64);
  EXPECT_EQ(modules[1].parameters, 128 * 64 + 64);
  EXPECT_EQ(modules[1].replicated_parameters, 64);
  EXPECT_EQ(BytesMoved(OperatorOf(modules[0], kForward, "gelu")),
            64 * 128 * 2 * 2);
  // The mask of dropout is a byte for each element.
  EXPECT_EQ(modules[0].saved_bytes, 64 * 2 * (64 + 64 + 128));
  EXPECT_EQ(modules[1].saved_bytes, 64 * (2 * 128 + 64));
  // 64 tokens of 64 x 2 B.
  EXPECT_THAT(StepTexts(modules[1], kForward),
              ElementsAre("ffn_down", "all-reduce TP 8192 B", "dropout_add"));
}

TEST(SharedExpertsTest, AreAFeedForwardPartWithoutANorm) {
  ModuleContext context = SmallContext(2);
  context.sequence_parallel = true;
  ModelSpec model = SmallDeepSeek();
  auto modules = SharedExpertModules(model, context);
  EXPECT_EQ(modules.at(0).name, "shared_column");
  EXPECT_EQ(modules.at(1).name, "shared_row");
  EXPECT_EQ(modules[0].parameters, 64 * 2 * 16);
  EXPECT_EQ(modules[1].parameters, 16 * 64);
  EXPECT_THAT(CollectiveTexts(modules[0], kForward),
              ElementsAre("all-gather TP 8192 B"));
  EXPECT_THAT(CollectiveTexts(modules[1], kForward),
              ElementsAre("reduce-scatter TP 8192 B"));

  model.experts->shared_gate = true;
  modules = SharedExpertModules(model, context);
  EXPECT_EQ(modules[0].parameters + modules[1].parameters,
            64 * 2 * 16 + 16 * 64 + 64);
}

}  // namespace
}  // namespace astra
