#include "astra-core/planner/internevo/evo_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/planner/internevo/small_evo_job.h"

namespace astra {
namespace {

using ::astra::testing::kSmallModel;
using ::testing::ElementsAre;

TEST(EvoModelTest, KeysAreAsWideAsTheirHeads) {
  // 8 x 8 for queries and 2 x 8 x 4 for keys and values.
  EXPECT_THAT(BlockWeights(kSmallModel), ElementsAre(128, 64, 192, 192, 192));
  EXPECT_EQ(BlockParameters(kSmallModel), 784);
  EXPECT_EQ(ModelParameters(kSmallModel), 4 * 784 + 2 * 128 + 8);
}

TEST(EvoModelTest, TheWidthIsRoundedUp) {
  EXPECT_EQ(EvoFfn(4096, 8.0 / 3, 256), 11008);
  EXPECT_EQ(EvoFfn(4096, 3.5, 256), 14336);
}

TEST(EvoModelTest, SizesAreThoseOfInternEvosSimulator) {
  // 32 (4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096) + 2 x 103168 x 4096 + 4096.
  EXPECT_EQ(ModelParameters(*EvoModelOfSize(7)), 7321423872.0);
  EXPECT_EQ(EvoModelOfSize(104)->layers, 82);
  EXPECT_EQ(EvoModelOfSize(8), std::nullopt);
}

}  // namespace
}  // namespace astra
