#include "astra-core/apps/work_budget.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;

constexpr double kGib = 1 << 30;

TEST(WorkBudgetTest, IsSilentAboutLittleWork) {
  EXPECT_EQ(DescribeWork({.seconds = 9, .memory_bytes = kGib / 2}), "");
  EXPECT_EQ(DescribeWork({.seconds = 45, .memory_bytes = 0}),
            "estimate   up to about 45 s and 0.0 GiB\n");
  EXPECT_EQ(DescribeWork({.seconds = 1, .memory_bytes = 2.5 * kGib}),
            "estimate   up to about 1 s and 2.5 GiB\n");
  EXPECT_EQ(DescribeWork({.seconds = 44'600, .memory_bytes = 185 * kGib}),
            "estimate   up to about 12 h and 185.0 GiB\n");
}

TEST(WorkBudgetTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(CheckWork({.memory_bytes = kGib}, kGib), absl::OkStatus());
  EXPECT_THAT(CheckWork({.memory_bytes = 3 * kGib}, kGib),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "this needs up to about 3.0 GiB of memory, and 1.0 "
                       "GiB are free; --force runs it all the same"));
}

}  // namespace
}  // namespace astra
