#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "astra-core/pages/axis_ticks.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/scatter_text.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AxisTicksTest, AreRoundAndHoldAllValues) {
  EXPECT_THAT(RoundTicks(3.41, 4.02, 5).values,
              ElementsAre(::testing::DoubleEq(3.4), ::testing::DoubleEq(3.6),
                          ::testing::DoubleEq(3.8), ::testing::DoubleEq(4.0),
                          ::testing::DoubleEq(4.2)));
  EXPECT_EQ(RoundTicks(3.41, 4.02, 5).Text(3.6), "3.6");
  EXPECT_THAT(RoundTicks(0, 100, 4).values, ElementsAre(0, 50, 100));
  EXPECT_EQ(RoundTicks(0, 100, 4).Text(50), "50");
  // One value lies between two ticks.
  const AxisTicks one = RoundTicks(7, 7, 4);
  EXPECT_LT(one.values.front(), 7);
  EXPECT_GT(one.values.back(), 7);
}

TEST(ScatterTextTest, DrawsMarksTheFrontAndOthers) {
  const std::string text =
      ScatterText({.x_name = "iteration s",
                   .y_name = "GiB",
                   .points = {{0, 0, true, "1", ""},
                              {50, 100, false, "12", ""},
                              {100, 50, true, "13", ""},
                              {100, 50, false, "14", ""}}});
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), size_t{kScatterTextHeight} + 1);  // And the last end.
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), size_t{kScatterTextWidth});
  }
  EXPECT_EQ(lines[0], "GiB");
  // The plane has 70 columns, the first of which is 10.
  EXPECT_EQ(lines[1], "     100 +" + std::string(35, ' ') + ".");
  EXPECT_EQ(lines[7], "      50 +" + std::string(69, ' ') + "*");
  EXPECT_EQ(lines[12], "       0 +1");
  EXPECT_EQ(lines[13], "         +" + std::string(70, '-'));
  EXPECT_TRUE(lines[14].ends_with("iteration s"));
}

TEST(HtmlTest, TextCannotBecomeMarkup) {
  EXPECT_EQ(HtmlText("<a href='x'>\"&"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
  EXPECT_THAT(HtmlTable("", std::vector<HtmlColumn>{{"a<", true}},
                        std::vector<std::vector<std::string>>{{"<1"}}),
              HasSubstr("<th scope=\"col\" class=\"number\">a&lt;</th></tr>"
                        "</thead>\n<tbody>\n<tr><th scope=\"row\" "
                        "class=\"number\">&lt;1</th></tr>"));
}

}  // namespace
}  // namespace astra
