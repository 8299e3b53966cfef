// Output of ibnetdiscover that ParseIbnetdiscover must refuse, each with its
// whole message.

#include "topology/discovered/ibnetdiscover.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// An adapter, a leaf and a spine. Most cases change one line of it.
constexpr std::string_view kGood =
    "#\n"
    "# Topology file: generated on Thu Nov 26 12:00:00 2026\n"
    "\n"
    "vendid=0x2c9\n"
    "switchguid=0x1(1)\n"
    "Switch\t3 \"S-1\"\t\t# \"leaf \"1\"\" enhanced port 0 lid 3 lmc 0\n"
    "[1]\t\"H-1\"[1](2) \t\t# \"node1 mlx5_0\" lid 4 4xNDR\n"
    "[2][ext 9]\t\"S-2\"[1][ext 7]\t\t# \"spine\" lid 5 4xHDR s=1 w=2 v=3\n"
    "\n"
    "Chassis 1 (guid 0x1)\n"
    "Switch\t3 \"S-2\"\t\t# \"\" base port 0 lid 5 lmc 0\n"
    "[1]\t\"S-1\"[2]\t\t# \"leaf 1\" lid 3 4xHDR\n"
    "\n"
    "caguid=0x1\n"
    "Ca\t1 \"H-1\"\t\t# \"node1 mlx5_0\"\n"
    "[1](2) \t\"S-1\"[1]\t\t# lid 4 lmc 0 \"leaf 1\" lid 3 4xNDR\n";

std::string Line(size_t number, std::string_view text) {
  return testing::WithLine(kGood, number, text);
}

std::vector<BadInput> BadLines() {
  return {
      {"Empty", "", "t:1:1: there is no Switch, Ca or Rt"},
      {"CommentsOnly", "# a\n\n", "t:1:1: there is no Switch, Ca or Rt"},
      {"OutputOfAnotherOption", "Switch\t : 0x1 ports 41 devid 0x1\n",
       "t:1:9: the number of ports is \":\": expected a whole number from 0 to "
       "255"},
      {"OtherText", Line(6, "digraph {"),
       "t:6:1: \"digraph\" begins no line of ibnetdiscover: expected Switch, "
       "Ca, Rt or a port such as [1]"},
      {"NoId", Line(6, "Switch 3 # \"leaf\""),
       "t:6:10: expected the id in quotes"},
      {"PortOfNoNode", "[1] \"S-1\"[1] # \"a\" lid 1 4xNDR\n",
       "t:1:1: a port of no node: expected Switch, Ca or Rt first"},
      {"PortNoNumber", Line(7, "[x] \"H-1\"[1] # \"a\" lid 1 4xNDR"),
       "t:7:1: port is \"x\": expected a whole number from 1 to 255"},
      {"PortBeyondTheNode", Line(7, "[4] \"H-1\"[1] # \"a\" lid 1 4xNDR"),
       "t:7:1: port 4 of a node with 3 ports"},
      {"PortTwice", Line(7, "[2] \"H-1\"[1] # \"a\" lid 1 4xNDR"),
       "t:8:1: port 2 is on line 7 already"},
      {"NoPeer", Line(7, "[1] # \"a\" lid 1 4xNDR"),
       "t:7:5: expected the id of the peer in quotes"},
      {"NoPortOfThePeer", Line(7, "[1] \"H-1\" # \"a\" lid 1 4xNDR"),
       "t:7:11: expected the number of a port, such as [1]"},
      {"NoDescription", Line(7, "[1] \"H-1\"[1] # 4xNDR"),
       "t:7:1: expected the description of the peer, its lid, width and speed "
       "behind #"},
      {"NoSpeed", Line(7, "[1] \"H-1\"[1] # \"a\" lid 1"),
       "t:7:25: \"\" is no width and speed such as 4xNDR"},
      {"UnknownSpeed", Line(7, "[1] \"H-1\"[1] # \"a\" lid 1 4xNRD"),
       "t:7:26: unknown speed \"NRD\"; did you mean \"NDR\"? (known: SDR, DDR, "
       "QDR, FDR10, FDR, EDR, HDR, NDR, XDR)"},
      {"SpeedNotKnownToTheTool", Line(7, "[1] \"H-1\"[1] # \"a\" lid 1 4x???"),
       "t:7:26: unknown speed \"???\" (known: SDR, DDR, QDR, FDR10, FDR, EDR, "
       "HDR, NDR, XDR)"},
      {"UnknownWidth", Line(7, "[1] \"H-1\"[1] # \"a\" lid 1 3xNDR"),
       "t:7:26: unknown width \"3x\"; did you mean \"1x\"? (known: 1x, 2x, 4x, "
       "8x, 12x)"},
  };
}

std::vector<BadInput> BadCables() {
  return {
      {"NodeTwice", Line(11, "Switch 3 \"S-1\" # \"\" base port 0"),
       "t:11:1: the node \"S-1\" is on line 6 already"},
      {"PeerWithoutABlock", Line(15, "Ca 1 \"H-2\" # \"node1 mlx5_0\""),
       "t:7:1: the peer \"H-1\" has no block"},
      {"PortThatThePeerDoesNotList", Line(16, ""),
       "t:7:1: port 1 of \"leaf \\\"1\\\"\" leads to port 1 of \"node1 "
       "mlx5_0\", whose block from line 15 on does not list that port"},
      {"PeerThatLeadsElsewhere",
       Line(16, "[1](2) \"S-1\"[2] # lid 4 lmc 0 \"leaf 1\" lid 3 4xNDR"),
       "t:7:1: port 1 of \"leaf \\\"1\\\"\" leads to port 1 of \"node1 "
       "mlx5_0\", which on line 16 leads to port 2 of \"leaf \\\"1\\\"\""},
      {"EndsAtDifferentRates",
       Line(12, "[1]\t\"S-1\"[2]\t\t# \"leaf 1\" lid 3 4xNDR"),
       "t:8:1: port 2 of \"leaf \\\"1\\\"\" leads to port 1 of \"S-2\" at "
       "4xHDR, on line 12 at 4xNDR"},
  };
}

class BadIbnetdiscoverTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadIbnetdiscoverTest, IsRefused) {
  EXPECT_THAT(ParseIbnetdiscover("t", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Lines, BadIbnetdiscoverTest,
                         ::testing::ValuesIn(BadLines()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Cables, BadIbnetdiscoverTest,
                         ::testing::ValuesIn(BadCables()),
                         [](const auto& test) { return test.param.name; });

// Else the cases above would prove nothing.
TEST(GoodIbnetdiscoverTest, WhatTheBadOnesAreMadeFromIsAccepted) {
  const IbFabric fabric = ValueOrDie(ParseIbnetdiscover("t", kGood));
  ASSERT_EQ(fabric.nodes.size(), 3u);
  EXPECT_EQ(fabric.nodes[0].description, "leaf \"1\"");
  EXPECT_EQ(fabric.nodes[0].ports[1].rate, Gbps(200));
  EXPECT_EQ(fabric.nodes[2].kind, IbNodeKind::kAdapter);
}

}  // namespace
}  // namespace astra
