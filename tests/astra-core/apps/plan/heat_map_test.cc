#include "astra-core/apps/plan/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HeatMapTest, TheTableHasSendersInRows) {
  TrafficMatrix matrix(2);
  matrix.Add(0, 1, 5);
  EXPECT_EQ(TrafficCsv(matrix), "from,0,1\n0,0,5\n1,0,0\n");
}

TEST(HeatMapTest, CellsAreDarkerForMoreBytes) {
  TrafficMatrix matrix(256);
  matrix.Add(0, 3, 2e9);
  matrix.Add(1, 2, 2e9);  // In the same cell of 2 x 2 ranks.
  matrix.Add(4, 0, 4e6);
  const std::string svg = TrafficSvg("a<b", matrix);
  EXPECT_THAT(svg, HasSubstr("a?b"));
  EXPECT_THAT(svg, HasSubstr("2 x 2 ranks; the darkest sends 4 GB"));
  EXPECT_THAT(svg, HasSubstr("x=\"65.00\" y=\"50.00\" width=\"5.00\" "
                             "height=\"5.00\" fill=\"#08306b\""));
  // Half way down six decades: three below the most.
  EXPECT_THAT(svg, HasSubstr("x=\"60.00\" y=\"60.00\" width=\"5.00\" "
                             "height=\"5.00\" fill=\"#8397b5\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace astra
