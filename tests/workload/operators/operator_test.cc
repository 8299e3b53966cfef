#include "workload/operators/operator.h"

#include "gtest/gtest.h"

namespace astra {
namespace {

Operator Of(const Attention& attention,
            Precision precision = Precision::kBf16) {
  return {"attention", attention, precision};
}

// Two sequences of 8, 4 query heads on 2 key heads.
constexpr Attention kAttention = {.batch = 2,
                                  .queries = 8,
                                  .keys = 8,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .qk_dim = 48,
                                  .v_dim = 32};
// A pair of a query and a key, in all sequences and heads: 2 x (48 + 32) FLOPs
// each.
constexpr double kFlopsPerPair = 2 * 4 * 2 * (48 + 32);

TEST(PrecisionTest, HasNamesAndBytes) {
  EXPECT_EQ(Name(Precision::kFp32), "fp32");
  EXPECT_EQ(Name(Precision::kBf16), "bf16");
  EXPECT_EQ(Name(Precision::kFp8), "fp8");
  EXPECT_EQ(BytesOf(Precision::kFp32), 4);
  EXPECT_EQ(BytesOf(Precision::kBf16), 2);
  EXPECT_EQ(BytesOf(Precision::kFp8), 1);
  EXPECT_EQ(BytesOf(Precision::kFp8Block), 1.03125);  // 4 bytes for 128.
  EXPECT_EQ(BytesOf(Precision::kMxfp8), 1.03125);     // A byte for 32.
  EXPECT_EQ(BytesOf(Precision::kNvfp4), 0.5625);      // A byte for 16.
}

TEST(OperatorTest, CountsAProduct) {
  const Gemm gemm = {.groups = 3, .m = 10, .n = 20, .k = 30};
  EXPECT_EQ(Flops({"ffn_up", gemm}), 2.0 * 3 * 10 * 20 * 30);
  // 3 x (300 + 600 + 200) elements of 2 bytes.
  EXPECT_EQ(BytesMoved({"ffn_up", gemm}), 6600);
  EXPECT_EQ(BytesMoved({"ffn_up", gemm, Precision::kFp32}), 13200);
  // FP8 operands, a BF16 result: 3 x (300 + 600 + 2 x 200).
  EXPECT_EQ(BytesMoved({"ffn_up", gemm, Precision::kFp8}), 3900);
}

TEST(OperatorTest, CountsWhatTheMaskLeaves) {
  // 1 + 2 + ... + 8.
  EXPECT_EQ(Flops(Of(kAttention)), 36 * kFlopsPerPair);

  Attention full = kAttention;
  full.causal = false;
  EXPECT_EQ(Flops(Of(full)), 64 * kFlopsPerPair);

  Attention window = kAttention;
  window.window = 3;  // 1 + 2 + 3 + 3 + 3 + 3 + 3 + 3.
  EXPECT_EQ(Flops(Of(window)), 21 * kFlopsPerPair);

  window.window = 100;
  EXPECT_EQ(Flops(Of(window)), 36 * kFlopsPerPair);

  Attention both = full;
  both.window = 3;  // 21 up to the query, and 7 + 6 + ... + 0 after it.
  EXPECT_EQ(Flops(Of(both)), 49 * kFlopsPerPair);
}

TEST(OperatorTest, TheLastQueryStandsAtTheLastKey) {
  Attention chunk = kAttention;
  chunk.queries = 2;  // At positions 6 and 7: 7 + 8 keys.
  EXPECT_EQ(Flops(Of(chunk)), 15 * kFlopsPerPair);
  chunk.window = 3;
  EXPECT_EQ(Flops(Of(chunk)), 6 * kFlopsPerPair);
  chunk.window = 7;
  EXPECT_EQ(Flops(Of(chunk)), 14 * kFlopsPerPair);

  Attention decode = kAttention;
  decode.queries = 1;
  EXPECT_EQ(Flops(Of(decode)), 8 * kFlopsPerPair);

  // More queries than keys: the first ones see none, or all without a mask.
  Attention wide = kAttention;
  wide.queries = 10;
  EXPECT_EQ(Flops(Of(wide)), 36 * kFlopsPerPair);
  wide.causal = false;
  EXPECT_EQ(Flops(Of(wide)), 80 * kFlopsPerPair);
}

TEST(OperatorTest, AttentionReadsEachKeyOnceForItsGroup) {
  // Queries and results: 2 x 8 x 4 x (48 + 32); keys and values: 2 heads.
  EXPECT_EQ(BytesMoved(Of(kAttention)), 2 * 8 * (4 + 2) * 80 * 2);

  Attention decode = kAttention;
  decode.queries = 1;
  EXPECT_EQ(BytesMoved(Of(decode)), 2 * (1 * 4 + 8 * 2) * 80 * 2);
  decode.window = 3;  // Only the last three keys.
  EXPECT_EQ(BytesMoved(Of(decode)), 2 * (1 * 4 + 3 * 2) * 80 * 2);
  EXPECT_EQ(BytesMoved(Of(decode, Precision::kFp8)),
            2 * (1 * 4 + 3 * 2) * 80 * 1);
}

TEST(OperatorTest, CountsTheBackwardPassOfAttention) {
  Attention backward = kAttention;
  backward.backward = true;
  EXPECT_EQ(Flops(Of(backward)), 2.5 * Flops(Of(kAttention)));
  EXPECT_EQ(BytesMoved(Of(backward)), 2 * BytesMoved(Of(kAttention)));
}

TEST(OperatorTest, CountsTheDeltaRule) {
  const DeltaRule rule = {
      .batch = 2, .positions = 100, .heads = 3, .key_dim = 16, .value_dim = 32};
  // 6 x 16 x 32 with the state, 2 x 64 x (3 x 16 + 2 x 32) in a chunk of 64.
  EXPECT_EQ(Flops({"delta_rule", rule}), 600.0 * (3072 + 14336));
  EXPECT_EQ(BytesMoved({"delta_rule", rule}), 600.0 * 2 * (16 + 32) * 2);

  DeltaRule backward = rule;
  backward.backward = true;
  EXPECT_EQ(Flops({"delta_rule", backward}), 1800.0 * (3072 + 14336));
}

TEST(OperatorTest, AStreamOnlyMovesBytes) {
  const Operator op = {"adam", Stream{1000}, Precision::kFp32};
  EXPECT_EQ(Flops(op), 0);
  EXPECT_EQ(BytesMoved(op), 1000);
}

// A result of 3 x 4 is written in BF16; a sum in FP32 is read and written.
TEST(OperatorTest, ASumIsReadAndWritten) {
  Gemm gemm = {.groups = 2, .m = 3, .n = 4, .k = 5};
  EXPECT_EQ(BytesMoved({"x", gemm}), 2 * (2 * (15 + 20) + 2 * 12));
  gemm.sum_bytes = 4;
  EXPECT_EQ(BytesMoved({"x", gemm}), 2 * (2 * (15 + 20) + 8 * 12));
  EXPECT_EQ(Flops({"x", gemm}), 2 * 2 * 3 * 4 * 5);
}

}  // namespace
}  // namespace astra
