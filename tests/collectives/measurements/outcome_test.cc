#include "collectives/measurements/outcome.h"

#include <optional>

#include "gtest/gtest.h"

namespace astra {
namespace {

TEST(OutcomeTest, AgreementNeedsAStatementAndAPrediction) {
  MeasuredRow row;
  EXPECT_EQ(AgreesOnAlgorithm(row, {.algorithm = "Ring"}), std::nullopt);
  row.environment.algorithm = NcclAlgorithm::kNvlsTree;
  EXPECT_EQ(AgreesOnAlgorithm(row, {.algorithm = "nvls_tree"}), true);
  EXPECT_EQ(AgreesOnAlgorithm(row, {.algorithm = "NVLS"}), false);
  EXPECT_EQ(AgreesOnAlgorithm(row, {.algorithm = "", .status = "no NIC"}),
            std::nullopt);
}

}  // namespace
}  // namespace astra
