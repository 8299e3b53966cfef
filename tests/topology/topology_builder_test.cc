#include "topology/topology_builder.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

class TopologyBuilderTest : public ::testing::Test {
 protected:
  // Nodes 0 and 1 are servers of one GPU, unless the test says otherwise.
  void Begin(uint32_t num_gpus, uint32_t gpus_per_server) {
    builder_ = TopologyBuilder(num_gpus, gpus_per_server, "H100");
    type_ = ValueOrDie(builder_.AddLinkType("400Gbps", "500ns", "0"));
  }
  absl::Status Cable(uint32_t a, uint32_t b) {
    return builder_.AddCable(NodeId(a), NodeId(b), type_);
  }
  void MustCable(uint32_t a, uint32_t b) {
    const absl::Status status = Cable(a, b);
    ASSERT_TRUE(status.ok()) << status;
  }
  absl::StatusOr<Topology> Build() { return std::move(builder_).Build(); }

  TopologyBuilder builder_{2, 1, "H100"};
  LinkTypeId type_ = ValueOrDie(builder_.AddLinkType("400Gbps", "500ns", "0"));
};

TEST_F(TopologyBuilderTest, GivesEqualSpellingsOneMake) {
  EXPECT_EQ(ValueOrDie(builder_.AddLinkType("400Gbps", "500ns", "0")), type_);
  // The same rate, but a file would spell it differently.
  EXPECT_NE(ValueOrDie(builder_.AddLinkType("0.4Tbps", "500ns", "0")), type_);
}

TEST_F(TopologyBuilderTest, RefusesAMakeWithTheWordThatIsWrong) {
  EXPECT_THAT(builder_.AddLinkType("400", "500ns", "0"),
              Says("\"400\" is not a rate: expected a number and a unit, such "
                   "as 400Gbps"));
  EXPECT_THAT(builder_.AddLinkType("400Gbps", "500", "0"),
              Says("\"500\" is not a time: expected a number and a unit of s, "
                   "ms, us, ns or ps, such as 500ns"));
  EXPECT_THAT(builder_.AddLinkType("400Gbps", "500ns", "1.5"),
              Says("error rate is \"1.5\": expected a number from 0 to 1"));
  EXPECT_THAT(builder_.AddLinkType("400Gbps", "500ns", "1.0"),
              Says("error rate is \"1.0\": such a link delivers nothing; "
                   "expected a probability below 1"));
}

TEST_F(TopologyBuilderTest, RefusesACableWithoutTwoEnds) {
  EXPECT_THAT(Cable(0, 2), Says("node 2 does not exist: the last one is 1"));
  EXPECT_THAT(Cable(2, 0), Says("node 2 does not exist: the last one is 1"));
  EXPECT_THAT(Cable(1, 1), Says("node 1 is linked to itself"));
}

TEST_F(TopologyBuilderTest, RefusesASecondCableInEitherDirection) {
  MustCable(0, 1);
  EXPECT_THAT(Cable(0, 1), Says("nodes 0 and 1 are linked twice"));
  EXPECT_THAT(Cable(1, 0), Says("nodes 0 and 1 are linked twice"));
}

TEST_F(TopologyBuilderTest, RefusesATopologyWithoutGpus) {
  Begin(0, 1);
  EXPECT_THAT(Build(), Says("there is no GPU"));
}

TEST_F(TopologyBuilderTest, RefusesServersThatAreNotWhole) {
  Begin(2, 8);
  MustCable(0, 1);
  EXPECT_THAT(Build(), Says("2 GPUs do not divide into servers of 8"));
  Begin(2, 0);
  MustCable(0, 1);
  EXPECT_THAT(Build(), Says("2 GPUs do not divide into servers of 0"));
}

TEST_F(TopologyBuilderTest, RefusesNodesWithoutALink) {
  Begin(3, 1);
  MustCable(0, 2);
  EXPECT_THAT(Build(), Says("GPU 1 has no link"));

  Begin(2, 1);
  builder_.AddSwitch(NodeKind::kSwitch);
  MustCable(0, 1);
  EXPECT_THAT(Build(), Says("switch 2 has no link"));
}

TEST_F(TopologyBuilderTest, RefusesPartsThatAreNotConnected) {
  Begin(4, 1);
  MustCable(0, 2);
  MustCable(1, 3);
  EXPECT_THAT(Build(), Says("GPU 1 is not connected to GPU 0"));

  Begin(2, 1);
  builder_.AddSwitch(NodeKind::kSwitch);
  builder_.AddSwitch(NodeKind::kSwitch);
  MustCable(0, 1);
  MustCable(2, 3);
  EXPECT_THAT(Build(), Says("switch 2 is not connected to GPU 0"));
}

TEST_F(TopologyBuilderTest, RefusesAnNvSwitchOfTwoServers) {
  Begin(4, 2);
  const uint32_t nv_switch = builder_.AddSwitch(NodeKind::kNvSwitch).index();
  MustCable(nv_switch, 1);  // From the switch to the GPU counts as well.
  MustCable(2, nv_switch);
  EXPECT_THAT(Build(),
              Says("NVSwitch 4 is linked to GPU 1 of server 0 and to GPU 2 of "
                   "server 1: an NVSwitch belongs to one server, and servers "
                   "have 2 GPUs"));
}

TEST_F(TopologyBuilderTest, RefusesMoreNodesThanTheLimit) {
  Begin(static_cast<uint32_t>(Topology::kMaxNodes) + 1, 1);
  EXPECT_THAT(Build(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "16777217 nodes are more than the limit of 16777216"));
}

}  // namespace
}  // namespace astra
