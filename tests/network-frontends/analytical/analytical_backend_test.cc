#include "network-frontends/analytical/analytical_backend.h"

#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::testing::ElementsAre;

// One byte takes a nanosecond on each link, and nothing has a delay.
class SharedPortTest : public ::testing::Test {
 protected:
  void Send(uint32_t id, uint32_t target, int64_t bytes, uint32_t channel = 0) {
    network_.Send({.id = MessageId(id),
                   .source = NodeId(0),
                   .target = NodeId(target),
                   .bytes = Bytes(bytes),
                   .channel = channel});
  }

  // The instants at which messages arrive, in nanoseconds.
  std::vector<int64_t> Arrivals() {
    std::vector<int64_t> times;
    std::vector<MessageId> arrived;
    while (true) {
      arrived.clear();
      network_.AdvanceTo(Microseconds(1000), &arrived);
      if (arrived.empty()) return times;
      for (size_t i = 0; i < arrived.size(); ++i) {
        times.push_back(network_.now().count() / 1000);
      }
    }
  }

  Topology topology_ = testing::OneServer(4, "8Gbps", "0ns");
  Routes routes_{topology_};
  AnalyticalBackend network_{routes_};
};

// Until the short one has left, each has half of the port.
TEST_F(SharedPortTest, ConnectionsShareThePortOfTheirSender) {
  Send(0, 1, 1000);
  Send(1, 2, 2000);
  EXPECT_THAT(Arrivals(), ElementsAre(2000, 3000));
}

TEST_F(SharedPortTest, MessagesOfAConnectionLeaveInOrder) {
  Send(0, 1, 2000);
  Send(1, 1, 1000);
  Send(2, 1, 0);
  EXPECT_THAT(Arrivals(), ElementsAre(2000, 3000, 3000));
}

// A third connection that begins later slows the others down from then on: 500
// bytes of each have left by then, and 500 more of each by 2500 ns.
TEST_F(SharedPortTest, ALaterMessageTakesItsShareFromThenOn) {
  Send(0, 1, 1000);
  Send(1, 2, 1000);
  std::vector<MessageId> arrived;
  network_.AdvanceTo(Microseconds(1), &arrived);
  EXPECT_TRUE(arrived.empty());
  Send(2, 3, 500);
  EXPECT_THAT(Arrivals(), ElementsAre(2500, 2500, 2500));
}

}  // namespace
}  // namespace astra
