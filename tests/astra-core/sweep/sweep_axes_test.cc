#include "astra-core/sweep/sweep_axes.h"

#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/astra-core/sweep/small_sweeps.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ErrorOf;
using ::astra::testing::Read;
using Texts = std::vector<std::string>;

std::string AxisErrorOf(std::string_view axis) {
  return ErrorOf(fmt::format("axes:\n  a: {}\nrun: {{w: \"${{a}}\"}}\n", axis));
}

TEST(ReadAxisTest, ReadsRanges) {
  const Sweep sweep = Read(
      "axes:\n"
      "  a: {from: 1, to: 2, step: 0.5}\n"
      "  b: {from: 1, to: 4, factor: 2}\n"
      "run: {w: \"${a}${b}\"}\n");
  EXPECT_EQ(sweep.axes[0].variables, Texts{"a"});
  EXPECT_EQ(sweep.axes[0].steps, (std::vector<Texts>{{"1"}, {"1.5"}, {"2"}}));
  EXPECT_EQ(sweep.axes[1].steps, (std::vector<Texts>{{"1"}, {"2"}, {"4"}}));
}

TEST(ReadAxisTest, RefusesRangesThatAreNone) {
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 8}"),
            "3:6: axis \"a\": expected from, to, and either step or factor");
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 8, step: 1, factor: 2}"),
            "3:6: axis \"a\": expected from, to, and either step or factor");
  EXPECT_EQ(AxisErrorOf("{to: 8, step: 1}"), "3:6: axis \"a\" has no \"from\"");
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 8, stepp: 1}"),
            "3:30: unknown field of axis \"a\" \"stepp\"; did you mean "
            "\"step\"? (known: factor, from, step, to)");
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 8, step: -1}"),
            "3:6: axis \"a\": no step of -1 leads from 1 to 8");
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 8, factor: 0.5}"),
            "3:6: axis \"a\": no factor of 0.5 leads from 1 to 8");
  EXPECT_EQ(AxisErrorOf("{from: 1, to: 100001, step: 1}"),
            "3:6: axis \"a\": more than 100000 values");
}

TEST(ReadAxisTest, ReadsVariablesThatMoveTogetherInTheOrderOfTheFirst) {
  const Sweep sweep = Read(
      "axes:\n"
      "  layout: [{tp: 8, pp: 1}, {pp: 2, tp: 4}]\n"
      "  pair: [{pair: x, b: 1}, {pair: y, b: 1}]\n"
      "run: {w: \"${tp}${pp}${pair}${b}\"}\n");
  EXPECT_EQ(sweep.axes[0].name, "layout");
  EXPECT_TRUE(sweep.axes[0].has_summary);
  EXPECT_EQ(sweep.axes[0].variables, (Texts{"tp", "pp", "layout"}));
  EXPECT_EQ(sweep.axes[0].steps, (std::vector<Texts>{{"8", "1", "tp=8 pp=1"},
                                                     {"4", "2", "tp=4 pp=2"}}));
  EXPECT_FALSE(sweep.axes[1].has_summary);
  EXPECT_EQ(sweep.axes[1].variables, (Texts{"pair", "b"}));
  EXPECT_EQ(sweep.axes[1].steps, (std::vector<Texts>{{"x", "1"}, {"y", "1"}}));
}

TEST(ReadAxisTest, RefusesAxesThatAreNone) {
  EXPECT_EQ(AxisErrorOf("8"),
            "3:6: axis \"a\" is a value: expected a list, or {from, to, "
            "step}; what does not vary goes under \"let\"");
  EXPECT_EQ(AxisErrorOf("[]"),
            "3:6: axis \"a\" has 0 values: expected 1 to 100000");
  EXPECT_EQ(AxisErrorOf("[1, null]"),
            "3:10: a value of axis \"a\" is nothing: expected one value");
  EXPECT_EQ(AxisErrorOf("[1, [2]]"),
            "3:10: a value of axis \"a\" is a list: expected one value");
  EXPECT_EQ(AxisErrorOf("[1, 2, 1]"), "3:13: axis \"a\" has this value twice");
  EXPECT_EQ(AxisErrorOf("[{b: 1}, {b: 1}]"),
            "3:15: axis \"a\" has this value twice");
  EXPECT_EQ(AxisErrorOf("[{b: 1, c: 2}, {b: 2}]"),
            "3:21: axis \"a\": expected \"c\" in each value, as in the first");
  EXPECT_EQ(AxisErrorOf("[{b: 1}, {b: 2, c: 2}]"),
            "3:25: unknown field of a value of axis \"a\" \"c\" (known: b)");
  EXPECT_EQ(AxisErrorOf("[{b: 1}, 2]"),
            "3:15: a value of axis \"a\" is a value, expected a mapping");
  EXPECT_EQ(AxisErrorOf("[{}]"),
            "3:7: axis \"a\" has 0 variables: expected 1 to 256");
  EXPECT_EQ(AxisErrorOf("[{b: [1]}]"),
            "3:11: \"b\" is a list: expected one "
            "value");
  EXPECT_EQ(AxisErrorOf("[\"x\\0y\"]"),
            "3:7: a value of axis \"a\" is \"x\\x00y\": control characters "
            "cannot stand in a command line");
  EXPECT_EQ(AxisErrorOf(fmt::format("[{}]", std::string(4097, 'x'))),
            "3:7: a value of axis \"a\" has 4097 characters: expected at most "
            "4096");
}

TEST(ReadRepeatsTest, ReadsRepeatsWithTheirFirstSeed) {
  const Sweep sweep = Read("repeats: {count: 3, first: 0}\nsimulate: {}\n");
  EXPECT_EQ(sweep.axes[0].steps, (std::vector<Texts>{{"0"}, {"1"}, {"2"}}));
  EXPECT_EQ(ErrorOf("repeats: 0\nsimulate: {}\n"),
            "2:10: repeats is \"0\": expected a whole number from 1 to "
            "100000");
  EXPECT_EQ(ErrorOf("repeats: [1]\nsimulate: {}\n"),
            "2:10: repeats is a list: expected a count, or {count, first}");
  EXPECT_EQ(ErrorOf("repeats: {first: 1}\nsimulate: {}\n"),
            "2:10: repeats has no \"count\"");
  EXPECT_EQ(ErrorOf("repeats: {count: 1, first: -1}\nsimulate: {}\n"),
            "2:28: first is \"-1\": expected a whole number from 0 to "
            "9223372036854675807");
}

}  // namespace
}  // namespace astra
