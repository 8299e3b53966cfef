#include "network-frontends/packet/congestion/registry.h"

#include <algorithm>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TEST(CongestionRegistryTest, FindsAControlByName) {
  EXPECT_EQ(ValueOrDie(FindCongestionControl("hpcc"))->name, "hpcc");
}

TEST(CongestionRegistryTest, HasTheDefault) {
  EXPECT_TRUE(FindCongestionControl(CongestionOptions().name).ok());
}

TEST(CongestionRegistryTest, NamesTheNearestWhereThereIsNoSuchName) {
  EXPECT_THAT(
      FindCongestionControl("dcqc"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "unknown congestion control \"dcqc\"; did you mean \"dcqcn\"? "
               "(known: dcqcn, dctcp, hpcc, hpcc_pint, none, swift, timely, "
               "uec)"));
}

TEST(CongestionRegistryTest, IsSortedByName) {
  EXPECT_TRUE(std::is_sorted(
      CongestionControls().begin(), CongestionControls().end(),
      [](const auto& a, const auto& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace astra
