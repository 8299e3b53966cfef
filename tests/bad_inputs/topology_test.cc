// Topology files that ParseTopology must refuse, each with its whole message.

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// Two GPUs, NVSwitch 2, switch 3. Most cases change one line of it.
constexpr std::string_view kGood =
    "4 2 1 1 4 H100\n"
    "2 3 \n"
    "0 2 2880Gbps 25ns 0\n"
    "0 3 400Gbps 500ns 0\n"
    "1 2 2880Gbps 25ns 0\n"
    "1 3 400Gbps 500ns 0\n";

std::string Line(size_t number, std::string_view text) {
  return testing::WithLine(kGood, number, text);
}

const char kColumns[] =
    "\"nodes gpus_per_server nv_switches other_switches links gpu_type\"";

std::vector<BadInput> BadHeaders() {
  return {
      {"EmptyFile", "",
       fmt::format("t:1:1: 0 words, expected 6: {}", kColumns)},
      {"BlankFile", "\n\n",
       fmt::format("t:1:1: 0 words, expected 6: {}", kColumns)},
      {"BinaryJunk",
       std::string("\x7f"
                   "ELF\x02\x01\0\0 \xff\xfe",
                   11),
       fmt::format("t:1:12: 2 words, expected 6: {}", kColumns)},
      {"BinaryNumbers", Line(1, std::string_view("\0\0 2 1 1 4 H100", 16)),
       "t:1:1: the number of nodes is \"\\x00\\x00\": expected a whole number "
       "from 1 to 16777216"},
      {"HeaderWithoutGpuType", Line(1, "4 2 1 1 4"),
       fmt::format("t:1:10: 5 words, expected 6: {}", kColumns)},
      {"HeaderWithSevenWords", Line(1, "4 2 1 1 4 H100 80GB"),
       fmt::format("t:1:16: unexpected \"80GB\" after {}", kColumns)},
      {"NodesNoNumber", Line(1, "four 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"four\": expected a whole number from 1 "
       "to 16777216"},
      {"NodesZero", Line(1, "0 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"0\": expected a whole number from 1 to "
       "16777216"},
      {"NodesNegative", Line(1, "-4 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"-4\": expected a whole number from 1 "
       "to 16777216"},
      {"NodesFractional", Line(1, "4.0 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"4.0\": expected a whole number from 1 "
       "to 16777216"},
      {"NodesBeyondTheLimit", Line(1, "16777217 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"16777217\": expected a whole number "
       "from 1 to 16777216"},
      {"NodesBeyond64Bits", Line(1, "99999999999999999999 2 1 1 4 H100"),
       "t:1:1: the number of nodes is \"99999999999999999999\": expected a "
       "whole number from 1 to 16777216"},
      {"NodesBeyondTheFile", Line(1, "16777216 2 1 1 4 H100"),
       "t:1:1: 16777216 nodes cannot have their links in a file of 107 bytes"},
      {"NoGpuPerServer", Line(1, "4 0 1 1 4 H100"),
       "t:1:3: the number of GPUs per server is \"0\": expected a whole number "
       "from 1 to 16777216"},
      {"NvSwitchesNegative", Line(1, "4 2 -1 1 4 H100"),
       "t:1:5: the number of NVSwitches is \"-1\": expected a whole number "
       "from 0 to 16777216"},
      {"SwitchesNoNumber", Line(1, "4 2 1 x 4 H100"),
       "t:1:7: the number of other switches is \"x\": expected a whole number "
       "from 0 to 16777216"},
      {"LinksBeyondTheLimit", Line(1, "4 2 1 1 134217729 H100"),
       "t:1:9: the number of links is \"134217729\": expected a whole number "
       "from 0 to 134217728"},
      {"LinksNegative", Line(1, "4 2 1 1 -4 H100"),
       "t:1:9: the number of links is \"-4\": expected a whole number from 0 "
       "to 134217728"},
      {"OnlySwitches", Line(1, "4 2 3 1 4 H100"),
       "t:1:1: 4 nodes with 4 switches leave no GPU"},
      {"MoreSwitchesThanNodes", Line(1, "4 2 16777216 16777216 4 H100"),
       "t:1:1: 4 nodes with 33554432 switches leave no GPU"},
      {"HeaderAlone", "4 2 1 1 4 H100\n",
       "t:2:1: 0 switch ids, but the header says 1 NVSwitches and 1 other "
       "switches"},
  };
}

std::vector<BadInput> BadSwitches() {
  return {
      {"SwitchMissing", Line(2, "2 "),
       "t:2:2: 1 switch ids, but the header says 1 NVSwitches and 1 other "
       "switches"},
      {"SwitchTooMany", Line(2, "1 2 3"),
       "t:2:6: 3 switch ids, but the header says 1 NVSwitches and 1 other "
       "switches"},
      {"SwitchTwice", Line(2, "2 2 "), "t:2:3: switch 2 is listed twice"},
      {"SwitchAmongTheGpus", Line(2, "1 3 "),
       "t:2:1: the id of a switch is \"1\": expected a whole number from 2 to "
       "3"},
      {"SwitchBeyondTheNodes", Line(2, "2 4 "),
       "t:2:3: the id of a switch is \"4\": expected a whole number from 2 to "
       "3"},
      {"SwitchNoNumber", Line(2, "2 psw"),
       "t:2:3: the id of a switch is \"psw\": expected a whole number from 2 "
       "to 3"},
      {"SwitchNegative", Line(2, "-2 3"),
       "t:2:1: the id of a switch is \"-2\": expected a whole number from 2 to "
       "3"},
  };
}

std::vector<BadInput> BadLinks() {
  const char kLink[] = "\"source target rate latency error_rate\"";
  return {
      {"LinkWithoutErrorRate", Line(4, "0 3 400Gbps 500ns"),
       fmt::format("t:4:18: 4 words, expected 5: {}", kLink)},
      {"LinkWithSixWords", Line(4, "0 3 400Gbps 500ns 0 0"),
       fmt::format("t:4:21: unexpected \"0\" after {}", kLink)},
      {"LinkBlank", Line(4, ""),
       fmt::format("t:4:1: 0 words, expected 5: {}", kLink)},
      {"LinkFromNoNode", Line(4, "4 3 400Gbps 500ns 0"),
       "t:4:1: the id of a node is \"4\": expected a whole number from 0 to 3"},
      {"LinkToNoNode", Line(4, "0 -3 400Gbps 500ns 0"),
       "t:4:3: the id of a node is \"-3\": expected a whole number from 0 to "
       "3"},
      {"LinkToItself", Line(4, "3 3 400Gbps 500ns 0"),
       "t:4:1: node 3 is linked to itself"},
      {"LinkTwice", Line(4, "0 2 400Gbps 500ns 0"),
       "t:4:1: nodes 0 and 2 are linked twice"},
      {"LinkBackAgain", Line(4, "2 0 400Gbps 500ns 0"),
       "t:4:1: nodes 0 and 2 are linked twice"},
      {"RateWithoutUnit", Line(4, "0 3 400 500ns 0"),
       "t:4:5: \"400\" is not a rate: expected a number and a unit, such as "
       "400Gbps"},
      {"RateOfAnotherUnit", Line(4, "0 3 400GB 500ns 0"),
       "t:4:5: \"400GB\" is not a rate: expected a number and a unit, such as "
       "400Gbps"},
      {"RateZero", Line(4, "0 3 0Gbps 500ns 0"),
       "t:4:5: \"0Gbps\" is not a rate: expected a whole number of bits per "
       "second above zero, below 2^63"},
      {"RateNegative", Line(4, "0 3 -400Gbps 500ns 0"),
       "t:4:5: \"-400Gbps\" is not a rate: expected a number and a unit, such "
       "as 400Gbps"},
      {"RateBeyond63Bits", Line(4, "0 3 9300000Tbps 500ns 0"),
       "t:4:5: \"9300000Tbps\" is not a rate: expected a whole number of bits "
       "per second above zero, below 2^63"},
      {"LatencyWithoutUnit", Line(4, "0 3 400Gbps 0.0005 0"),
       "t:4:13: \"0.0005\" is not a time: expected a number and a unit of s, "
       "ms, us, ns or ps, such as 500ns"},
      {"LatencyNegative", Line(4, "0 3 400Gbps -500ns 0"),
       "t:4:13: \"-500ns\" is not a time: expected a number and a unit of s, "
       "ms, us, ns or ps, such as 500ns"},
      {"LatencyOfHalfAPicosecond", Line(4, "0 3 400Gbps 0.5ps 0"),
       "t:4:13: \"0.5ps\" is not a time: expected a whole number of "
       "picoseconds, below 2^63"},
      {"RateAndLatencySwapped", Line(4, "0 3 500ns 400Gbps 0"),
       "t:4:5: \"500ns\" is not a rate: expected a number and a unit, such as "
       "400Gbps"},
      {"ErrorRateNoNumber", Line(4, "0 3 400Gbps 500ns none"),
       "t:4:19: error rate is \"none\": expected a number from 0 to 1"},
      {"ErrorRateNotANumber", Line(4, "0 3 400Gbps 500ns nan"),
       "t:4:19: error rate is \"nan\": expected a number from 0 to 1"},
      {"ErrorRateNegative", Line(4, "0 3 400Gbps 500ns -0.1"),
       "t:4:19: error rate is \"-0.1\": expected a number from 0 to 1"},
      {"ErrorRateOne", Line(4, "0 3 400Gbps 500ns 1"),
       "t:4:19: error rate is \"1\": such a link delivers nothing; expected a "
       "probability below 1"},
      {"ErrorRateAboveOne", Line(4, "0 3 400Gbps 500ns 1.5"),
       "t:4:19: error rate is \"1.5\": expected a number from 0 to 1"},
      {"FileTruncatedBetweenLines",
       std::string(kGood.substr(0, kGood.find("1 3 400"))),
       "t:6:1: 3 links, but the header says 4"},
      {"FileTruncatedInALine",
       std::string(kGood.substr(0, kGood.find("500ns 0\n", 80))),
       fmt::format("t:6:12: 3 words, expected 5: {}", kLink)},
      {"LineTooMany", std::string(kGood) + "\n2 3 400Gbps 500ns 0\n",
       "t:8:1: more links than the 4 that the header says"},
  };
}

// The line behind the cables that counts storage servers.
std::vector<BadInput> BadStorage() {
  const std::string good(kGood);
  const std::string cables = "0 2 400Gbps 500ns 0\n1 2 400Gbps 500ns 0\n";
  return {
      {"StorageWithoutCount", good + "storage_servers\n",
       "t:7:16: 1 words, expected 2: \"storage_servers count\""},
      {"StorageOfTwoCounts", good + "storage_servers 1 2\n",
       "t:7:19: unexpected \"2\" after \"storage_servers count\""},
      {"StorageZero", good + "storage_servers 0\n",
       "t:7:17: the number of storage servers is \"0\": expected a whole "
       "number from 1 to 16777216"},
      {"StorageOfNvSwitches", good + "storage_servers 2\n",
       "t:7:17: 2 storage servers are more than the switches other than "
       "NVSwitches that come last"},
      {"StorageBeyondTheNodes", good + "storage_servers 5\n",
       "t:7:17: 5 storage servers are more than the switches other than "
       "NVSwitches that come last"},
      {"StorageTwice", good + "storage_servers 1\nstorage_servers 1\n",
       "t:8:1: unexpected \"storage_servers\" behind the line of "
       "storage_servers"},
      {"StorageAtAGpu", good + "storage_servers 1\n",
       "t:4:1: storage 3 is linked to node 0: expected a switch that is no "
       "NVSwitch"},
      {"StorageThatJoinsGpus",
       "5 1 0 3 4 H100\n2 3 4\n0 2 400Gbps 500ns 0\n1 3 400Gbps 500ns 0\n"
       "2 4 400Gbps 500ns 0\n3 4 400Gbps 500ns 0\nstorage_servers 1\n",
       "t:4:1: GPU 1 is not connected to GPU 0"},
      {"StorageWithoutALink",
       "4 1 0 2 2 H100\n2 3\n" + cables + "storage_servers 1\n",
       "t:1:1: storage 3 has no link"},
  };
}

// What no single line gets wrong.
std::vector<BadInput> BadGraphs() {
  return {
      {"GpusThatAreNoWholeServers", Line(1, "4 3 1 1 4 H100"),
       "t:1:1: 2 GPUs do not divide into servers of 3"},
      {"GpuWithoutALink",
       "3 1 0 1 1 H100\n"
       "2\n"
       "0 2 400Gbps 500ns 0\n",
       "t:1:1: GPU 1 has no link"},
      {"SwitchWithoutALink",
       "4 1 0 2 2 H100\n"
       "2 3\n"
       "0 2 400Gbps 500ns 0\n"
       "1 2 400Gbps 500ns 0\n",
       "t:1:1: switch 3 has no link"},
      {"OneGpuAlone", "1 1 0 0 0 H100\n", "t:1:1: GPU 0 has no link"},
      {"ServersThatNothingConnects",
       "4 1 0 2 2 H100\n"
       "2 3\n"
       "0 2 400Gbps 500ns 0\n"
       "1 3 400Gbps 500ns 0\n",
       "t:4:1: GPU 1 is not connected to GPU 0"},
      {"NvSwitchOfTwoServers", Line(1, "4 1 1 1 4 H100"),
       "t:5:1: NVSwitch 2 is linked to GPU 0 of server 0 and to GPU 1 of "
       "server 1: "
       "an NVSwitch belongs to one server, and servers have 1 GPUs"},
  };
}

class BadTopologyTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadTopologyTest, IsRefused) {
  EXPECT_THAT(ParseTopology("t", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

std::string Name(const ::testing::TestParamInfo<BadInput>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Header, BadTopologyTest,
                         ::testing::ValuesIn(BadHeaders()), Name);
INSTANTIATE_TEST_SUITE_P(Switches, BadTopologyTest,
                         ::testing::ValuesIn(BadSwitches()), Name);
INSTANTIATE_TEST_SUITE_P(Links, BadTopologyTest,
                         ::testing::ValuesIn(BadLinks()), Name);
INSTANTIATE_TEST_SUITE_P(Storage, BadTopologyTest,
                         ::testing::ValuesIn(BadStorage()), Name);
INSTANTIATE_TEST_SUITE_P(Graph, BadTopologyTest,
                         ::testing::ValuesIn(BadGraphs()), Name);

// Else the cases above would prove nothing.
TEST(GoodTopologyTest, WhatTheBadOnesAreMadeFromIsAccepted) {
  EXPECT_EQ(FormatTopology(ValueOrDie(ParseTopology("t", kGood))), kGood);
}

}  // namespace
}  // namespace astra
