#include "workload/operators/measured_operators.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;

OperatorSample Product(int64_t m, int64_t us) {
  return {.gpu = "A",
          .name = "qkv",
          .shape = Gemm{.groups = 1, .m = m, .n = 20, .k = 30},
          .precision = Precision::kBf16,
          .time = Microseconds(us)};
}
OperatorSample Norm(int64_t bytes, int64_t us) {
  return {.gpu = "A",
          .name = "norm",
          .shape = Stream{bytes},
          .precision = Precision::kBf16,
          .time = Microseconds(us)};
}

TEST(MeasuredOperatorsTest, AProductIsAProductUnderAnyName) {
  const Gemm gemm = {.m = 1, .n = 2, .k = 3};
  const OperatorClass kind = ClassOf({"qkv", gemm});
  EXPECT_EQ(ClassOf({"mlp", Gemm{.m = 4, .n = 2, .k = 3}}), kind);
  EXPECT_NE(ClassOf({"qkv", gemm, Precision::kFp8}), kind);
  EXPECT_NE(ClassOf({"qkv", Gemm{.groups = 2, .m = 1, .n = 2, .k = 3}}), kind);
}

TEST(MeasuredOperatorsTest, AStreamIsItsOwn) {
  EXPECT_EQ(ClassOf({"norm", Stream{1}}), ClassOf({"norm", Stream{2}}));
  EXPECT_NE(ClassOf({"norm", Stream{1}}), ClassOf({"add", Stream{1}}));
}

TEST(MeasuredOperatorsTest, TellsAttentionApartByPassAndWindow) {
  const Attention causal = {.batch = 1, .queries = 2};
  Attention full = causal;
  full.causal = false;
  Attention backward = causal;
  backward.backward = true;
  Attention window = causal;
  window.window = 128;
  const OperatorClass kind = ClassOf({"a", causal});
  EXPECT_EQ(ClassOf({"b", full}), kind);
  EXPECT_NE(ClassOf({"a", backward}), kind);
  EXPECT_NE(ClassOf({"a", window}), kind);
}

TEST(MeasuredOperatorsTest, ListsDimensionsInOrder) {
  EXPECT_THAT(DimensionsOf(Gemm{.groups = 4, .m = 1, .n = 2, .k = 3}),
              ElementsAre(4, 1, 2, 3, 1, 1, 1, 1));
  EXPECT_THAT(DimensionsOf(Attention{.batch = 9,
                                     .queries = 8,
                                     .keys = 7,
                                     .heads = 6,
                                     .kv_heads = 5,
                                     .qk_dim = 4,
                                     .v_dim = 3,
                                     .causal = false}),
              ElementsAre(9, 8, 7, 6, 5, 4, 3, 2));
  EXPECT_THAT(DimensionsOf(DeltaRule{.batch = 9,
                                     .positions = 8,
                                     .heads = 7,
                                     .key_dim = 6,
                                     .value_dim = 5}),
              ElementsAre(9, 8, 7, 6, 5, 1, 1, 1));
  EXPECT_THAT(DimensionsOf(Stream{77}), ElementsAre(77, 1, 1, 1, 1, 1, 1, 1));
}

TEST(MeasuredOperatorsTest, SortsSamples) {
  OperatorSample other_gpu = Product(1, 1);
  other_gpu.gpu = "B";
  const MeasuredOperators measured(
      {other_gpu, Norm(5, 1), Product(8, 2), Product(4, 1)});
  EXPECT_THAT(measured.samples(),
              ElementsAre(Product(4, 1), Product(8, 2), Norm(5, 1), other_gpu));
  const MeasuredOperators::Range found =
      measured.Find("A", ClassOf(Product(1, 1).op()));
  EXPECT_EQ(found.begin, 0);
  EXPECT_EQ(found.end, 2);
  const MeasuredOperators::Range none =
      measured.Find("C", ClassOf(Product(1, 1).op()));
  EXPECT_EQ(none.begin, none.end);
}

TEST(MeasuredOperatorsTest, TakesTheMedianOfEqualShapes) {
  const MeasuredOperators odd({Norm(5, 30), Norm(5, 10), Norm(5, 11)});
  EXPECT_THAT(odd.samples(), ElementsAre(Norm(5, 11)));
  const MeasuredOperators even(
      {Norm(5, 40), Norm(5, 10), Norm(5, 14), Norm(5, 12)});
  EXPECT_THAT(even.samples(), ElementsAre(Norm(5, 13)));
}

TEST(MeasuredOperatorsTest, MayBeEmpty) {
  EXPECT_TRUE(MeasuredOperators({}).samples().empty());
}

TEST(MeasuredOperatorsTest, KnowsPrecisions) {
  EXPECT_EQ(PrecisionOf("fp16"), Precision::kBf16);
  EXPECT_EQ(PrecisionOf("bf16"), Precision::kBf16);
  EXPECT_EQ(PrecisionOf("fp8"), Precision::kFp8);
  EXPECT_EQ(PrecisionOf("fp32"), Precision::kFp32);
  EXPECT_EQ(PrecisionOf("int8"), std::nullopt);
}

}  // namespace
}  // namespace astra
