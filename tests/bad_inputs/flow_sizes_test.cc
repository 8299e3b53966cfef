// Files of sizes that FlowSizes::Parse must refuse, each with its whole
// message.

#include "network-frontends/traffic/flow_sizes.h"

#include <string>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;

std::vector<BadInput> Bad() {
  return {
      {"Empty", "", "s:1:1: the sizes end at 0 %, expected 100"},
      {"OnlyAComment", "# 0 0\n", "s:2:1: the sizes end at 0 %, expected 100"},
      {"OneWord", "0 0\n10\n",
       "s:2:3: 1 words, expected 2: a size in bytes and a percentage"},
      {"ThreeWords", "0 0 0\n",
       "s:1:6: 3 words, expected 2: a size in bytes and a percentage"},
      {"SizeNoNumber", "0 0\n1k 100\n",
       "s:2:1: size is \"1k\": expected a number from 0 to "
       "9007199254740992"},
      {"SizeFalls", "10 0\n9 100\n",
       "s:2:1: size is \"9\": expected a number from 10 to "
       "9007199254740992"},
      {"PercentFalls", "0 0\n10 50\n20 40\n",
       "s:3:4: percentage is \"40\": expected a number from 50 to 100"},
      {"PercentAbove100", "0 0\n10 101\n",
       "s:2:4: percentage is \"101\": expected a number from 0 to 100"},
      {"BeginsAbove0", "0 1\n10 100\n", "s:1:3: the first percentage is not 0"},
      {"Shares", "0 0\n10 1\n", "s:3:1: the sizes end at 1 %, expected 100"},
      {"NoByte", "0 0\n0 100\n", "s:3:1: no message has a byte"},
  };
}

class FlowSizesBadInput : public ::testing::TestWithParam<BadInput> {};

TEST_P(FlowSizesBadInput, IsRefused) {
  EXPECT_THAT(FlowSizes::Parse("s", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(All, FlowSizesBadInput, ::testing::ValuesIn(Bad()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace astra
