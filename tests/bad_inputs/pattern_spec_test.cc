// Patterns that ParsePatterns must refuse, each with its whole message.

#include "network-frontends/traffic/pattern_spec.h"

#include <string>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;

constexpr std::string_view kKnown = " (known: incast, permutation, all-to-all)";

std::vector<BadInput> BadNames() {
  return {
      {"Empty", "", fmt::format("unknown pattern \"\"{}", kKnown)},
      {"Misspelt", "incst:bytes=1B",
       fmt::format("unknown pattern \"incst\"; did you mean \"incast\"?{}",
                   kKnown)},
      {"EndsWithPlus", "incast:bytes=1B+",
       fmt::format("unknown pattern \"\"{}", kKnown)},
      {"SecondUnknown", "incast:bytes=1B+ring:bytes=1B",
       fmt::format("unknown pattern \"ring\"{}", kKnown)},
  };
}

std::vector<BadInput> BadKeys() {
  return {
      {"Misspelt", "all-to-all:byte=1B",
       "all-to-all: unknown key \"byte\"; did you mean \"bytes\"? (known: "
       "bytes, duration, rate, sizes, spread, start)"},
      {"OfAnotherPattern", "permutation:bytes=1B,senders=2",
       "permutation: unknown key \"senders\" (known: shift, bytes, duration, "
       "rate, sizes, spread, start)"},
      {"Twice", "incast:bytes=1B,bytes=2B",
       "incast: the key \"bytes\" is there twice"},
      {"NoValue", "incast:bytes",
       "incast: \"bytes\": expected KEY=VALUE, such as bytes=1MiB"},
      {"EndsWithComma", "incast:bytes=1B,",
       "incast: \"\": expected KEY=VALUE, such as bytes=1MiB"},
      {"NoKeys",
       "incast:", "incast: \"\": expected KEY=VALUE, such as bytes=1MiB"},
      {"NoSize", "incast",
       "incast: bytes is missing, such as bytes=1MiB, or sizes=FILE"},
      {"TwoSizes", "incast:bytes=1B,sizes=f",
       "incast: sizes has no effect beside bytes"},
      {"RateAlone", "incast:bytes=1B,rate=1Gbps",
       "incast: rate and duration go together, such as "
       "rate=40Gbps,duration=1ms"},
      {"DurationAlone", "incast:bytes=1B,duration=1ms",
       "incast: rate and duration go together, such as "
       "rate=40Gbps,duration=1ms"},
      {"SpreadBesideRate", "incast:bytes=1B,rate=1Gbps,duration=1ms,spread=1us",
       "incast: spread has no effect beside rate, which says when messages "
       "come"},
  };
}

std::vector<BadInput> BadValues() {
  return {
      {"SizeWithoutUnit", "incast:bytes=5",
       "incast: bytes: \"5\" is not a size: expected a whole number and a unit "
       "of B, kB, MB, GB, KiB, MiB or GiB, such as 64MiB"},
      {"NoByte", "incast:bytes=0B",
       "incast: bytes: a message has at least one byte"},
      {"NoSender", "incast:bytes=1B,senders=0",
       "incast: senders: value is \"0\": expected a whole number from 1 to "
       "16777216"},
      {"NoTime", "incast:bytes=1B,start=5",
       "incast: start: \"5\" is not a time: expected a number and a unit of s, "
       "ms, us, ns or ps, such as 500ns"},
      {"LongTime", "incast:bytes=1B,spread=1001s",
       "incast: spread: \"1001s\" is longer than 1000 s"},
  };
}

class PatternBadInput : public ::testing::TestWithParam<BadInput> {};

TEST_P(PatternBadInput, IsRefused) {
  EXPECT_THAT(ParsePatterns(GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

const auto kName = [](const auto& named) { return named.param.name; };
INSTANTIATE_TEST_SUITE_P(Names, PatternBadInput,
                         ::testing::ValuesIn(BadNames()), kName);
INSTANTIATE_TEST_SUITE_P(Keys, PatternBadInput, ::testing::ValuesIn(BadKeys()),
                         kName);
INSTANTIATE_TEST_SUITE_P(Values, PatternBadInput,
                         ::testing::ValuesIn(BadValues()), kName);

}  // namespace
}  // namespace astra
