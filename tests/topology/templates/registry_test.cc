#include "topology/templates/registry.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TEST(TopologyRegistryTest, FindsATemplateByName) {
  EXPECT_EQ(ValueOrDie(FindTopologyTemplate("DCN+")).name, "DCN+");
}

// SimAI takes any name that it does not know for "custom".
TEST(TopologyRegistryTest, NamesTheChoicesWhereThereIsNoSuchName) {
  EXPECT_THAT(
      FindTopologyTemplate("SpectrumX"),
      StatusIs(absl::StatusCode::kNotFound,
               "unknown topology \"SpectrumX\"; did you mean \"Spectrum-X\"? "
               "(known: AlibabaHPN, DCN+, NVL, Spectrum-X, custom)"));
}

}  // namespace
}  // namespace astra
