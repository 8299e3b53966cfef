#include "topology/topology_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WriteText;

// As SimAI's generator writes it, with a space behind the last id.
constexpr char kText[] =
    "5 2 1 2 5 A100\n"
    "2 3 4 \n"
    "0 2 2400Gbps 0.000025ms 0\n"
    "0 3 100Gbps 0.0005ms 1e-4\n"
    "1 2 2400Gbps 0.000025ms 0\n"
    "1 3 100Gbps 0.0005ms 1e-4\n"
    "3 4 400Gbps 0.0005ms 0\n";

TEST(TopologyFileTest, ReadsEveryField) {
  const Topology topology = ValueOrDie(ParseTopology("file", kText));
  EXPECT_EQ(topology.num_nodes(), 5u);
  EXPECT_EQ(topology.num_gpus(), 2u);
  EXPECT_EQ(topology.gpus_per_server(), 2u);
  EXPECT_EQ(topology.gpu_type(), "A100");
  EXPECT_EQ(topology.kind(NodeId(1)), NodeKind::kGpu);
  EXPECT_EQ(topology.kind(NodeId(2)), NodeKind::kNvSwitch);
  EXPECT_EQ(topology.kind(NodeId(3)), NodeKind::kSwitch);

  ASSERT_EQ(topology.links().size(), 10u);
  const LinkId link(2);  // The second cable, as listed.
  EXPECT_EQ(topology.link(link).source, NodeId(0));
  EXPECT_EQ(topology.link(link).target, NodeId(3));
  EXPECT_EQ(topology.type(link).bandwidth, Gbps(100));
  EXPECT_EQ(topology.type(link).latency, Nanoseconds(500));
  EXPECT_EQ(topology.type(link).error_rate, 1e-4);
}

TEST(TopologyFileTest, WritesTheSameBytes) {
  EXPECT_EQ(FormatTopology(ValueOrDie(ParseTopology("file", kText))), kText);
}

TEST(TopologyFileTest, TakesCrLfTabsAndBlankLinesAtTheEnd) {
  std::string text;
  for (const char* c = kText; *c != '\0'; ++c) {
    text += *c == '\n' ? "\r\n" : *c == ' ' ? " \t" : std::string(1, *c);
  }
  for (const char* end : {"", "\n", "\r\n \n\t\n"}) {
    EXPECT_EQ(FormatTopology(ValueOrDie(ParseTopology("file", text + end))),
              kText);
  }
  const std::string without_last_line_feed(kText, sizeof kText - 2);
  EXPECT_EQ(
      FormatTopology(ValueOrDie(ParseTopology("file", without_last_line_feed))),
      kText);
}

TEST(TopologyFileTest, TakesNvSwitchesOfAnyIdAboveTheGpus) {
  const Topology topology =
      ValueOrDie(ParseTopology("file",
                               "4 2 1 1 4 H100\n"
                               "3 2\n"  // The first is the NVSwitch.
                               "0 3 2880Gbps 25ns 0\n"
                               "1 3 2880Gbps 25ns 0\n"
                               "2 0 400Gbps 500ns 0\n"
                               "2 1 400Gbps 500ns 0\n"));
  EXPECT_EQ(topology.kind(NodeId(2)), NodeKind::kSwitch);
  EXPECT_EQ(topology.kind(NodeId(3)), NodeKind::kNvSwitch);
  EXPECT_EQ(topology.tier(NodeId(2)), 1);
}

TEST(TopologyFileTest, TakesGpusLinkedWithoutASwitch) {
  const std::string text =
      "2 1 0 0 1 H100\n"
      "\n"
      "0 1 400Gbps 500ns 0\n";
  const Topology topology = ValueOrDie(ParseTopology("file", text));
  EXPECT_EQ(topology.num_gpus(), 2u);
  EXPECT_EQ(FormatTopology(topology), text);
}

// SimAI keeps node ids in 16 bits in places.
TEST(TopologyFileTest, TakesMoreThan65536Nodes) {
  constexpr uint32_t kNumGpus = 70'000;
  std::string text =
      fmt::format("{} 1 0 1 {} H100\n{} \n", kNumGpus + 1, kNumGpus, kNumGpus);
  for (uint32_t i = 0; i < kNumGpus; ++i) {
    text += fmt::format("{} {} 400Gbps 500ns 0\n", i, kNumGpus);
  }
  const Topology topology = ValueOrDie(ParseTopology("file", text));
  EXPECT_EQ(topology.link(LinkId(2 * (kNumGpus - 1))).source,
            NodeId(kNumGpus - 1));
  EXPECT_EQ(FormatTopology(topology), text);
}

TEST(TopologyFileTest, ReadsFromAFileAndSaysItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.PathOf("topology");
  WriteText(path, kText);
  EXPECT_EQ(FormatTopology(ValueOrDie(ReadTopology(path))), kText);

  WriteText(path, "5 2 1 2 5\n");
  EXPECT_THAT(
      ReadTopology(path),
      StatusIs(absl::StatusCode::kInvalidArgument,
               path + ":1:10: 5 words, expected 6: \"nodes "
                      "gpus_per_server nv_switches other_switches links "
                      "gpu_type\""));
  EXPECT_THAT(ReadTopology(folder.PathOf("none")),
              StatusIs(absl::StatusCode::kNotFound,
                       folder.PathOf("none") +
                           ": cannot be read: No such file or directory"));
}

}  // namespace
}  // namespace astra
