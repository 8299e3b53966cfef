#include "astra-core/apps/simai_network_files.h"

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

FlowRecord Flow(uint32_t source, uint32_t target, TimePs start, TimePs finish) {
  return {.source = NodeId(source),
          .target = NodeId(target),
          .bytes = Bytes(262'144),
          .start = start,
          .finish = finish,
          .ideal = Nanoseconds(882)};
}

TEST(SimaiNetworkFilesTest, FlowsStandInTheOrderInWhichTheyArrive) {
  NetworkStatistics network;
  network.flows = {
      Flow(3, 4, Nanoseconds(562'011), Nanoseconds(562'100)),
      Flow(3, 4, Nanoseconds(562'010), Nanoseconds(567'938) + TimePs(999)),
      Flow(259, 4, Nanoseconds(1), Nanoseconds(600'000)),
  };
  EXPECT_EQ(SimaiFctText(network),
            "0b000301 0b000401 10001 100 262144 562011 89 882\n"
            "0b000301 0b000401 10000 100 262144 562010 5928 882\n"
            "0b010301 0b000401 10000 100 262144 1 599999 882\n");
}

TEST(SimaiNetworkFilesTest, APauseNamesTheNodeThatIsTold) {
  // GPUs 0 and 1, NVSwitch 2, switch 3; cables 0-2, 0-3, 1-2, 1-3.
  const Topology topology = testing::Star(1, 2);
  NetworkStatistics network;
  network.pfc = {{.time = Nanoseconds(5), .link = LinkId(2), .is_pause = true},
                 {.time = Nanoseconds(6), .link = LinkId(7)},
                 {.time = Nanoseconds(7), .link = LinkId(1)}};
  EXPECT_EQ(SimaiPfcText(topology, network),
            "5 0 0 2 1\n6 3 1 2 0\n7 2 2 1 0\n");
}

}  // namespace
}  // namespace astra
