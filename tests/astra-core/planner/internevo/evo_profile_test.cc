#include "astra-core/planner/internevo/evo_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

TEST(EvoProfileTest, GroupsLieOnServers) {
  EXPECT_EQ(GroupOnServers(1, 8, 8), (EvoGroup{1, 1}));
  EXPECT_EQ(GroupOnServers(4, 1, 8), (EvoGroup{4, 1}));
  EXPECT_EQ(GroupOnServers(32, 1, 8), (EvoGroup{8, 4}));
  EXPECT_EQ(GroupOnServers(16, 4, 8), (EvoGroup{2, 8}));
  EXPECT_EQ(GroupOnServers(4, 16, 8), (EvoGroup{1, 4}));
  EXPECT_EQ(GroupOnServers(6, 1, 8), std::nullopt);  // 6 and 2 on 2 servers.
  EXPECT_EQ(GroupOnServers(12, 1, 8), std::nullopt);
  EXPECT_EQ(Name(EvoKey{EvoOp::kAllGather, {8, 4}}),
            "all_gather_intra_8_inter_4");
}

TEST(EvoProfileTest, TimesAreLinearBetweenSizes) {
  const EvoCurve curve({{300, 5}, {100, 2}, {100, 4}});  // 3 at 100.
  EXPECT_DOUBLE_EQ(curve.Seconds(1), 3);
  EXPECT_DOUBLE_EQ(curve.Seconds(100), 3);
  EXPECT_DOUBLE_EQ(curve.Seconds(250), 4.5);
  EXPECT_DOUBLE_EQ(curve.Seconds(600), 10);  // The speed of 300.
}

TEST(EvoProfileTest, FitsALine) {
  const EvoLine line = FitLine(EvoCurve({{100, 2}, {200, 3}, {400, 5}}));
  EXPECT_NEAR(line.start, 1, 1e-9);
  EXPECT_NEAR(line.rate, 100, 1e-6);
  EXPECT_NEAR(line.worst_error, 0, 1e-9);
  // Of 2 s at 100 and 5 s at 200, a line through 0 with relative errors:
  // (50 + 40) / (50^2 + 40^2) units a second and unit.
  const EvoLine steep = FitLine(EvoCurve({{100, 2}, {200, 5}}));
  EXPECT_EQ(steep.start, 0);
  EXPECT_NEAR(steep.rate, 4100.0 / 90, 1e-9);
  EXPECT_NEAR(steep.worst_error, 1 - 200 * 90.0 / 4100 / 5, 1e-9);
}

TEST(EvoProfileTest, WhatIsWrittenReadsBack) {
  const EvoProduct product = {512, 1024, 2.5e-5};
  const EvoCurve products =
      ValueOrDie(ReadEvoProducts("p", FormatEvoProducts({&product, 1})));
  EXPECT_EQ(products.points().front().size, 1073741824);
  EXPECT_DOUBLE_EQ(products.points().front().seconds, 2.5e-5);
  const std::string text =
      "op,intra,inter,bytes,time_us\nall2all,8,2,1024,12.5\n";
  EXPECT_EQ(FormatEvoCollectives(ValueOrDie(ReadEvoCollectives("c", text))),
            text);
}

TEST(EvoProfileTest, SaysWhatIsWrong) {
  const auto products = [](std::string_view text) {
    return std::string(ReadEvoProducts("p.csv", text).status().message());
  };
  EXPECT_EQ(products("complexity,time_ms\n"),
            "p.csv:1:12: unknown column \"time_ms\"; did you mean \"time_us\"? "
            "(known: rows, hidden, complexity, time_us)");
  EXPECT_EQ(products("complexity,time_us\n"),
            "p.csv:1:1: no row: expected a product");
  EXPECT_EQ(products("rows,hidden,complexity,time_us\n2,3,35,1\n"),
            "p.csv:2:5: complexity is \"35\": expected 2 x rows x hidden x "
            "hidden = 36");
  const auto collectives = [](const std::string& row) {
    return std::string(
        ReadEvoCollectives("c.csv", "op,intra,inter,bytes,time_us\n" + row)
            .status()
            .message());
  };
  EXPECT_EQ(collectives("all_gathr,2,1,1,1\n"),
            "c.csv:2:1: unknown op \"all_gathr\"; did you mean \"all_gather\"? "
            "(known: all2all, all_reduce, reduce_scatter, all_gather, "
            "broadcast, p2p)");
  EXPECT_EQ(collectives("p2p,1,1,1,1\n"),
            "c.csv:2:5: a group of one rank: expected two or more");
  EXPECT_EQ(collectives("p2p,2,1,8,0\n"),
            "c.csv:2:11: time_us is \"0\": expected a number from 0.001 to "
            "1000000000000");
}

}  // namespace
}  // namespace astra
