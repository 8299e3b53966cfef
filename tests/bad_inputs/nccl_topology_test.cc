// Topology files of NCCL that ParseNcclTopology must refuse, each with its
// whole message.

#include "topology/discovered/nccl_topology.h"

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

// Two GPUs and two NICs. Each case changes one line of it.
constexpr std::string_view kGood =
    "<system version=\"1\">\n"
    "<cpu host_hash=\"0x1\" numaid=\"0\">\n"
    "<pci busid=\"0000:18:00.0\" vendor=\"0x10de\" device=\"0x2330\">\n"
    "<gpu dev=\"0\" sm=\"90\" rank=\"0\">\n"
    "<nvlink target=\"0000:06:00.0\" count=\"18\" tclass=\"0x068000\"/>\n"
    "</gpu></pci>\n"
    "<pci busid=\"0000:19:00.0\" vendor=\"0x10de\" device=\"0x2330\">\n"
    "<gpu dev=\"1\" sm=\"90\" rank=\"1\">\n"
    "<nvlink target=\"0000:06:00.0\" count=\"18\" tclass=\"0x068000\"/>\n"
    "</gpu></pci>\n"
    "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\"/>\n"
    "<net name=\"mlx5_1\" dev=\"1\" speed=\"400000\" port=\"1\"/></nic>\n"
    "</cpu></system>\n";

std::string Line(size_t number, std::string_view text) {
  return testing::WithLine(kGood, number, text);
}

std::vector<BadInput> BadNcclTopologies() {
  return {
      {"Empty", "", "t:1:1: not XML: No document element found"},
      {"NotXml", "{}", "t:1:3: not XML: No document element found"},
      {"AnotherFile", "<graphs version=\"1\"/>", "t:1:1: there is no <system>"},
      {"NoVersion", Line(1, "<system>"),
       "t:1:1: <system> has no \"version\": expected 1"},
      {"FileOfRccl", Line(1, "<system version=\"2\">"),
       "t:1:1: <system>: version is \"2\": expected 1, which NCCL writes"},
      {"NoGpu", "<system version=\"1\"><cpu/></system>",
       "t:1:1: there is no <gpu>"},
      {"NoNumberOfAGpu", Line(4, "<gpu sm=\"90\">"),
       "t:4:1: <gpu> has no \"dev\": expected a whole number from 0 to "
       "1000000"},
      {"TwoGpusOfANumber", Line(8, "<gpu dev=\"0\" sm=\"90\">"),
       "t:8:1: a second <gpu> with dev 0, and not all have a rank of their "
       "own"},
      {"TwoGpusOfARank", Line(8, "<gpu dev=\"1\" sm=\"90\" rank=\"0\">"),
       "t:8:1: a second GPU of rank 0, which the one on line 4 has"},
      {"TwoGpusOfABusId",
       Line(7,
            "<pci busid=\"0000:18:00.0\" vendor=\"0x10de\" "
            "device=\"0x2330\">"),
       "t:8:1: a second GPU of bus id \"0000:18:00.0\", which the one on line "
       "4 has"},
      {"LinksToItself",
       Line(5,
            "<nvlink target=\"0000:06:00.0\" count=\"18\" "
            "tclass=\"0x068000\"/><nvlink target=\"0000:18:00.0\" "
            "count=\"2\" tclass=\"0x030200\"/>"),
       "t:5:61: an NVLink of GPU 0 to itself, \"0000:18:00.0\""},
      {"GpusThatDiffer", Line(8, "<gpu dev=\"1\" sm=\"80\" rank=\"1\">"),
       "t:8:1: a GPU \"0x10de:0x2330\" (sm 80) beside a GPU "
       "\"0x10de:0x2330\" (sm 90): expected equal GPUs"},
      {"NoLinksOfOne", Line(9, ""),
       "t:8:1: GPU 1 has no link to an NVSwitch, others have 18"},
      {"NoLinks",
       Line(9, "<nvlink target=\"0000:18:00.0\" count=\"2\" tclass=\"0x03\"/>"),
       "t:8:1: GPU 1 has no link to an NVSwitch, others have 18"},
      {"ZeroLinks", Line(5, "<nvlink target=\"0000:06:00.0\" count=\"0\"/>"),
       "t:5:1: <nvlink>: count is \"0\": expected a whole number from 1 to "
       "1000"},
      {"NoSpeedOfANic", Line(12, "<net name=\"mlx5_1\" dev=\"1\"/></nic>"),
       "t:12:1: <net> has no \"speed\": expected a whole number from 1 to "
       "100000000"},
      {"UnknownSpeedOfANic",
       Line(12, "<net name=\"mlx5_1\" dev=\"1\" speed=\"-1\"/></nic>"),
       "t:12:1: <net>: speed is \"-1\": expected a whole number from 1 to "
       "100000000"},
      {"NicsThatDiffer",
       Line(12, "<net name=\"mlx5_1\" dev=\"1\" speed=\"200000\"/></nic>"),
       "t:12:1: NIC \"mlx5_1\" has 200Gbps and NIC \"mlx5_0\" 400Gbps: "
       "expected NICs of one rate"},
      {"WrongSpeedOfPcie",
       Line(7, "<pci busid=\"x\" link_speed=\"fast\" link_width=\"16\">"),
       "t:7:1: <pci>: link_speed is \"fast\": expected a rate such as \"32.0 "
       "GT/s PCIe\""},
  };
}

class BadNcclTopologyTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadNcclTopologyTest, IsRefused) {
  Warnings warnings;
  EXPECT_THAT(ParseNcclTopology("t", GetParam().contents, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(All, BadNcclTopologyTest,
                         ::testing::ValuesIn(BadNcclTopologies()),
                         [](const auto& test) { return test.param.name; });

// Else the cases above would prove nothing.
TEST(GoodNcclTopologyTest, WhatTheBadOnesAreMadeFromIsAccepted) {
  Warnings warnings;
  const ServerType type = ValueOrDie(ParseNcclTopology("t", kGood, &warnings));
  EXPECT_EQ(type.server.nics.size(), 2u);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
}

// NVLink joins one pair of three GPUs only, and PCIe has no rate.
TEST(GoodNcclTopologyTest, GpusThatNothingJoinsAreRefused) {
  Warnings warnings;
  const std::string text =
      testing::WithLine(testing::WithLine(kGood, 5, ""), 9, "");
  EXPECT_THAT(ParseNcclTopology("t", text, &warnings),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "t:4:1: <gpu> is on no PCI device with link_speed and "
                       "link_width, and NVLink does not join all GPUs"));
}

}  // namespace
}  // namespace astra
