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
      "node2 slots=4 address=10.0.0.2\r\n";
  EXPECT_THAT(ValueOrDie(ParseHostFile("hosts.txt", kFile, 4)),
              ElementsAre(RankPlace{"node1", ""}, RankPlace{"node1", ""},
                          RankPlace{"node2", "10.0.0.2"},
                          RankPlace{"node2", "10.0.0.2"}));
}

TEST(HostFileTest, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) {
    return std::string(ParseHostFile("h", text, 4).status().message());
  };
  EXPECT_EQ(error("a slots=3\n"), "h: 3 slots are too few for 4 ranks");
  EXPECT_EQ(error("a slots=0"),
            "h:1:3: slots is \"0\": expected a whole number from 1 to 65536");
  EXPECT_EQ(error("a\nb slot=1"),
            "h:2:3: expected slots=N or address=ADDRESS, not \"slot=1\"");
  EXPECT_EQ(error("a b"),
            "h:1:3: expected slots=N or address=ADDRESS, not \"b\"");
  EXPECT_EQ(error("slots=4"), "h:1:1: a line begins with the name of a host");
  EXPECT_EQ(error("a slots=2 slots=2"), "h:1:11: slots is given twice");
  EXPECT_EQ(error("a address=b address=c"), "h:1:13: address is given twice");
  EXPECT_EQ(error("-v slots=4"),
            "h:1:1: \"-v\" is no name of a host: a remote shell would take it "
            "for an option");
}

TEST(CommandAtTest, OnlyOtherHostsNeedAShell) {
  const std::vector<std::string> words = {"run", "--a=b c"};
  EXPECT_THAT(CommandAt({"localhost", ""}, {"ssh"}, words),
              ElementsAre("run", "--a=b c"));
  EXPECT_THAT(CommandAt({"node1", ""}, {"ssh", "-x"}, words),
              ElementsAre("ssh", "-x", "node1", "run", "'--a=b c'"));
}

}  // namespace
}  // namespace astra::testing
