#include "astra-core/apps/collective/nccl_tests_sizes.h"

#include <string>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr ElementType kFloat = {"float", 4};
constexpr ElementType kHalf = {"half", 2};

Bytes SizeOf(const std::string& text) {
  return ValueOrDie(ParseNcclTestsSize("-b", text));
}

TEST(NcclTestsSizesTest, UnitsArePowersOf1024) {
  EXPECT_EQ(SizeOf("1024"), Bytes(1024));
  EXPECT_EQ(SizeOf("1K"), Bytes(1024));
  EXPECT_EQ(SizeOf("64m"), MiB(64));
  EXPECT_EQ(SizeOf("64MiB"), MiB(64));
  EXPECT_EQ(SizeOf("1.5GB"), MiB(1536));
  EXPECT_EQ(SizeOf("16T"), kMaxNcclTestsBytes);
}

TEST(NcclTestsSizesTest, OtherSizesAreRefused) {
  for (const std::string text :
       {"", "K", "0", "-1", "1.5", "1X", "1Mib", "17T", "1 K", "1e3"}) {
    EXPECT_THAT(
        ParseNcclTestsSize("--min-bytes", text),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "--min-bytes is \"" + text +
                     "\": expected a size from 1 byte to 16T, such as 1024, "
                     "64K, 8M or 1G (powers of 1024)"));
  }
}

TEST(NcclTestsSizesTest, SweepsEndAtTheLargestSize) {
  EXPECT_THAT(ValueOrDie(SizesOf({.min = Bytes(8), .max = Bytes(40)})),
              ElementsAre(Bytes(8), Bytes(16), Bytes(32)));
  EXPECT_THAT(ValueOrDie(SizesOf(
                  {.min = Bytes(8), .max = Bytes(40), .step = Bytes(16)})),
              ElementsAre(Bytes(8), Bytes(24), Bytes(40)));
  EXPECT_THAT(
      SizesOf({.min = Bytes(1), .max = Bytes(100'001), .step = Bytes(1)}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "more than the limit of 100000 sizes: give a larger step"));
}

TEST(NcclTestsSizesTest, WholeBuffersAreWholeElements) {
  const NcclTestsBuffer buffer =
      BufferOf(CollectiveKind::kAllReduce, Bytes(1003), kFloat, 8);
  EXPECT_EQ(buffer.bytes, Bytes(1000));
  EXPECT_EQ(buffer.count, 250);
}

// 1000 B are 250 floats, 31 for each of 8 ranks, of which 28 are a multiple of
// 16 B; or 500 halves, 62 for each, of which 56 are.
TEST(NcclTestsSizesTest, PartsAreMultiplesOf16Bytes) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kGather,
        CollectiveKind::kScatter, CollectiveKind::kDispatch,
        CollectiveKind::kCombine}) {
    const NcclTestsBuffer floats = BufferOf(kind, Bytes(1000), kFloat, 8);
    EXPECT_EQ(floats.bytes, Bytes(28 * 4 * 8));
    EXPECT_EQ(floats.count, 28);
    EXPECT_EQ(BufferOf(kind, Bytes(1000), kHalf, 8).count, 56);
    EXPECT_EQ(BufferOf(kind, Bytes(127), kFloat, 8).bytes, Bytes(0));
  }
}

TEST(NcclTestsSizesTest, UnknownTypesAreRefusedWithTheNearest) {
  EXPECT_EQ(ValueOrDie(ParseElementType("-d", "double")).bytes, 8);
  EXPECT_THAT(ParseElementType("--datatype", "bfloat"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unknown --datatype \"bfloat\"; did you mean \"float\"? "
                       "(known: int8, uint8, int32, uint32, int64, uint64, "
                       "half, float, double, bfloat16, f8e4m3, f8e5m2)"));
}

}  // namespace
}  // namespace astra
