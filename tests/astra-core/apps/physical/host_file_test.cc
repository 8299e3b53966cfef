#include "astra-core/apps/physical/host_file.h"

#include "astra-core/apps/physical/launcher.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

TEST(HostFileTest, RanksAreCountedByHost) {
  constexpr std::string_view kFile =
      "# Two hosts.\n"
      "node1 slots=2 # With two GPUs.\n"
      "\n"
      "node2 slots=4 address=10.0.0.2 device=mlx5_0,mlx5_1\r\n";
  EXPECT_THAT(
      ValueOrDie(ParseHostFile("hosts.txt", kFile, 4)),
      ElementsAre(RankPlace{"node1", "", "", 0}, RankPlace{"node1", "", "", 1},
                  RankPlace{"node2", "10.0.0.2", "mlx5_0,mlx5_1", 0},
                  RankPlace{"node2", "10.0.0.2", "mlx5_0,mlx5_1", 1}));
}

TEST(HostFileTest, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) {
    return std::string(ParseHostFile("h", text, 4).status().message());
  };
  EXPECT_EQ(error("a slots=3\n"), "h: 3 slots are too few for 4 ranks");
  EXPECT_EQ(error("a slots=0"),
            "h:1:3: slots is \"0\": expected a whole number from 1 to 65536");
  EXPECT_EQ(error("a\nb slot=1"),
            "h:2:3: expected slots=N, address=ADDRESS or device=NAME, not "
            "\"slot=1\"");
  EXPECT_EQ(
      error("a b"),
      "h:1:3: expected slots=N, address=ADDRESS or device=NAME, not \"b\"");
  EXPECT_EQ(error("slots=4"), "h:1:1: a line begins with the name of a host");
  EXPECT_EQ(error("a slots=2 slots=2"), "h:1:11: slots is given twice");
  EXPECT_EQ(error("a address=b address=c"), "h:1:13: address is given twice");
  EXPECT_EQ(error("a device=b device=c"), "h:1:12: device is given twice");
  EXPECT_EQ(error("-v slots=4"),
            "h:1:1: \"-v\" is no name of a host: a remote shell would take it "
            "for an option");
}

TEST(CommandAtTest, OnlyOtherHostsNeedAShell) {
  const std::vector<std::string> words = {"run", "--a=b c"};
  EXPECT_THAT(CommandAt({"localhost", "", "", 0}, {"ssh"}, words),
              ElementsAre("run", "--a=b c"));
  EXPECT_THAT(CommandAt({"node1", "", "", 0}, {"ssh", "-x"}, words),
              ElementsAre("ssh", "-x", "node1", "run", "'--a=b c'"));
}

}  // namespace
}  // namespace astra::testing
