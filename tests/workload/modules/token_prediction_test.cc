#include "workload/modules/token_prediction.h"

#include "tests/testing/matchers.h"
#include "tests/testing/small_models.h"

namespace astra {
namespace {

using ::astra::testing::SmallLlama;
using ::astra::testing::StepTexts;
using ::testing::ElementsAre;

// Two sequences of 32 positions on TP 2: 64 tokens of 64, joined 128.
TEST(TokenPredictionTest, JoinsTwoHiddenStatesAndProjectsThem) {
  ModuleContext context;
  context.tensor = 2;
  context.sequences = 2;
  context.positions = 32;
  const MockModule module = TokenPrediction(SmallLlama(), context);
  EXPECT_EQ(module.name, "mtp_projection");
  EXPECT_EQ(module.parameters, 128 * 32 + 2 * 64);
  EXPECT_EQ(Flops(module, ModulePass::kForward), 2.0 * 64 * 128 * 32);
  EXPECT_THAT(StepTexts(module, ModulePass::kForward),
              ElementsAre("rms_norm", "rms_norm", "concat", "mtp_linear",
                          "all-gather TP 8192 B"));
}

}  // namespace
}  // namespace astra
