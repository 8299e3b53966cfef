#include "astra-core/base/expert_routing.h"

#include <string>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

std::string MistakeOf(const ExpertRouting& routing) {
  const std::optional<RoutingMistake> mistake = FindMistake(routing);
  if (!mistake) return "";
  return fmt::format("{} is {}: {}", mistake->field, mistake->value,
                     mistake->rule);
}

TEST(ExpertRoutingTest, PublishedModelsAreValid) {
  EXPECT_EQ(MistakeOf({.experts = 8, .top_k = 2}), "");  // Mixtral 8x7B.
  EXPECT_EQ(
      MistakeOf({.experts = 160, .top_k = 6, .groups = 8, .top_groups = 3}),
      "");  // DeepSeek-V2.
  EXPECT_EQ(
      MistakeOf({.experts = 256, .top_k = 8, .groups = 8, .top_groups = 4}),
      "");  // DeepSeek-V3.
  EXPECT_EQ(MistakeOf({.experts = 4096, .top_k = 4096}), "");
}

TEST(ExpertRoutingTest, NamesTheFirstMistake) {
  EXPECT_EQ(MistakeOf({}), "experts is 0: expected 1 to 4096");
  EXPECT_EQ(MistakeOf({.experts = 4097}),
            "experts is 4097: expected 1 to 4096");
  EXPECT_EQ(MistakeOf({.experts = 8}), "top_k is 0: expected 1 to 4096");
  EXPECT_EQ(MistakeOf({.experts = 8, .top_k = 9}),
            "top_k is 9: expected no more than the 8 experts");
  for (const int64_t groups : {-1, 0, 3, 16}) {
    EXPECT_EQ(MistakeOf({.experts = 8, .top_k = 1, .groups = groups}),
              fmt::format("groups is {}: expected a divisor of the 8 experts",
                          groups));
  }
  for (const int64_t top : {-1, 0, 3}) {
    EXPECT_EQ(
        MistakeOf({.experts = 8, .top_k = 1, .groups = 2, .top_groups = top}),
        fmt::format("top_groups is {}: expected 1 to the 2 groups", top));
  }
  // One of 4 groups holds 2 experts.
  EXPECT_EQ(MistakeOf({.experts = 8, .top_k = 3, .groups = 4}),
            "top_k is 3: expected no more than the 2 experts of 1 of the 4 "
            "groups");
}

}  // namespace
}  // namespace astra
