#include "network-frontends/packet/congestion/registry.h"

#include <algorithm>
#include <string>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

TEST(CongestionRegistryTest, FindsAControlByName) {
  EXPECT_EQ(ValueOrDie(FindCongestionControl("hpcc"))->name, "hpcc");
}

TEST(CongestionRegistryTest, HasTheDefault) {
  EXPECT_TRUE(FindCongestionControl(CongestionOptions().name).ok());
}

TEST(CongestionRegistryTest, NamesTheNearestWhereThereIsNoSuchName) {
  const absl::Status status = FindCongestionControl("dcqc").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(status.message()),
      ::testing::StartsWith("unknown congestion control \"dcqc\"; did you mean "
                            "\"dcqcn\"? (known: dcqcn, "));
}

TEST(CongestionRegistryTest, IsSortedByName) {
  EXPECT_TRUE(std::is_sorted(
      CongestionControls().begin(), CongestionControls().end(),
      [](const auto& a, const auto& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace astra
