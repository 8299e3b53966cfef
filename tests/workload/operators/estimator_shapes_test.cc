#include "workload/operators/estimator_shapes.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

// 2 sequences of 8 positions, hidden size 64, TP 4.
constexpr EstimatorSizes kSizes = {
    .tensor = 4, .sequences = 2, .heads = 8, .positions = 8, .hidden = 64};

TEST(EstimatorShapesTest, ProductsHaveTheirShareOfTheWidth) {
  const auto shape = [](std::string_view name) {
    const EstimatorProduct product =
        EstimatorProductOf(name, kSizes).value_or(EstimatorProduct());
    return std::vector<double>{product.rows, product.in, product.out};
  };
  EXPECT_THAT(shape("linear1"), ::testing::ElementsAre(16, 64, 48));
  EXPECT_THAT(shape("linear2"), ::testing::ElementsAre(16, 16, 64));
  EXPECT_THAT(shape("linear3"), ::testing::ElementsAre(16, 64, 64));
  EXPECT_THAT(shape("linear4"), ::testing::ElementsAre(16, 64, 64));
  // 50257 words, padded to a multiple of 512, are 50688.
  EXPECT_THAT(shape("linear_final"), ::testing::ElementsAre(16, 64, 12672));
  EXPECT_FALSE(EstimatorProductOf("gelu", kSizes));
}

TEST(EstimatorShapesTest, NamesOfFilesTellOperatorAndPrecision) {
  const auto parts = [](std::string_view path) {
    const auto name =
        SplitEstimatorFileName(path).value_or(EstimatorFileName());
    return std::pair(name.op, name.precision);
  };
  using Parts = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(parts("a_b/G_linear1_fp16.csv"), Parts("linear1", "fp16"));
  EXPECT_EQ(parts("G_allgather_large_fp16_2_4.csv"),
            Parts("allgather_large", "fp16"));
  EXPECT_EQ(parts("G_parallel_cross_entropy_128_fp32.csv"),
            Parts("parallel_cross_entropy_128", "fp32"));
  for (const std::string_view path :
       {"G_linear1.csv", "linear1.csv", "G_linear1_fp16.txt", "csv",
        "G_2_4.csv", ""}) {
    EXPECT_FALSE(SplitEstimatorFileName(path)) << path;
  }
}

}  // namespace
}  // namespace astra
