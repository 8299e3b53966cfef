// The contract of NetworkBackend, for every backend there is.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/flow/flow_backend.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Backend {
  std::string_view name;
  std::unique_ptr<NetworkBackend> (*make)(Routes& routes);
};

std::unique_ptr<NetworkBackend> MakeAnalytical(Routes& routes) {
  return std::make_unique<AnalyticalBackend>(routes);
}

// Without headers, which links would carry too.
std::unique_ptr<NetworkBackend> MakeFlow(Routes& routes) {
  return std::make_unique<FlowBackend>(routes.topology(),
                                       FlowOptions{.header = Bytes(0)});
}

std::unique_ptr<NetworkBackend> MakePacket(Routes& routes) {
  PacketOptions options;
  options.nic.header = Bytes(0);
  options.congestion.name = "none";
  return std::make_unique<PacketBackend>(routes.topology(), options);
}

std::unique_ptr<NetworkBackend> MakePacketPerMessage(Routes& routes) {
  PacketOptions options;
  options.nic.header = Bytes(0);
  options.nic.queue_pairs = QueuePairs::kPerMessage;
  options.congestion.name = "none";
  return std::make_unique<PacketBackend>(routes.topology(), options);
}

constexpr Backend kBackends[] = {{"analytical", &MakeAnalytical},
                                 {"flow", &MakeFlow},
                                 {"packet", &MakePacket},
                                 {"packet_per_message", &MakePacketPerMessage}};

// Ranks 0 .. 3, each linked to each by 400 Gbps and 500 ns.
class BackendContractTest : public ::testing::TestWithParam<Backend> {
 protected:
  void Send(uint32_t id, uint32_t source, uint32_t target, Bytes bytes) {
    network_->Send({MessageId(id), NodeId(source), NodeId(target), bytes});
  }

  std::vector<MessageId> AdvanceTo(TimePs limit) {
    std::vector<MessageId> arrived;
    network_->AdvanceTo(limit, &arrived);
    return arrived;
  }

  Topology topology_ = testing::FullMesh(4, "400Gbps", "500ns");
  Routes routes_{topology_};
  std::unique_ptr<NetworkBackend> network_ = GetParam().make(routes_);
};

TEST_P(BackendContractTest, DeliversNoEarlierThanPhysicsAllows) {
  const TimePs earliest = Nanoseconds(500) + TransferTime(KiB(64), Gbps(400));
  Send(7, 0, 1, KiB(64));

  EXPECT_THAT(AdvanceTo(earliest - TimePs(1)), IsEmpty());
  EXPECT_EQ(network_->now(), earliest - TimePs(1));
  EXPECT_THAT(AdvanceTo(Microseconds(100)), ElementsAre(MessageId(7)));
  EXPECT_GE(network_->now(), earliest);
}

TEST_P(BackendContractTest, StopsAtTheFirstArrival) {
  Send(1, 0, 1, KiB(64));
  Send(2, 2, 3, KiB(1));

  EXPECT_THAT(AdvanceTo(Microseconds(100)), ElementsAre(MessageId(2)));
  EXPECT_THAT(AdvanceTo(Microseconds(100)), ElementsAre(MessageId(1)));
}

TEST_P(BackendContractTest, GivesTheArrivalsOfOneInstantTogetherById) {
  Send(9, 0, 1, KiB(64));
  Send(4, 2, 3, KiB(64));

  EXPECT_THAT(AdvanceTo(Microseconds(100)),
              ElementsAre(MessageId(4), MessageId(9)));
}

TEST_P(BackendContractTest, StandsAtTheLimitWhereNothingArrives) {
  EXPECT_THAT(AdvanceTo(Microseconds(3)), IsEmpty());
  EXPECT_EQ(network_->now(), Microseconds(3));
}

// Over a second link that is slower than the sender's port, and so would let a
// short message overtake a long one that left before it.
TEST_P(BackendContractTest, MessagesOfAChannelArriveInTheOrderOfSending) {
  const Topology topology = testing::Drawing(2, 1, 0, 1)
                                .Cable(0, 2, "400Gbps", "500ns")
                                .Cable(2, 1, "100Gbps", "500ns")
                                .Build();
  Routes routes(topology);
  const std::unique_ptr<NetworkBackend> network = GetParam().make(routes);
  for (uint32_t id = 0; id < 8; ++id) {
    const Bytes bytes = id % 2 == 0 ? KiB(64) : KiB(1);
    network->Send({MessageId(id), NodeId(0), NodeId(1), bytes, 3});
  }
  std::vector<MessageId> arrived;
  while (arrived.size() < 8) {
    const size_t before = arrived.size();
    network->AdvanceTo(Microseconds(1'000), &arrived);
    ASSERT_GT(arrived.size(), before);
  }
  for (uint32_t id = 0; id < 8; ++id) EXPECT_EQ(arrived[id], MessageId(id));
}

TEST_P(BackendContractTest, AMessageMayBeEmpty) {
  Send(3, 0, 1, Bytes(0));
  EXPECT_THAT(AdvanceTo(Microseconds(100)), ElementsAre(MessageId(3)));
  EXPECT_GE(network_->now(), Nanoseconds(500));
}

TEST_P(BackendContractTest, OnePortSendsNoFasterThanItsRate) {
  Send(1, 0, 1, KiB(64));
  Send(2, 0, 1, KiB(64));

  while (!AdvanceTo(Microseconds(100)).empty()) {
  }
  Send(3, 0, 1, KiB(64));
  const TimePs begin = network_->now();
  Send(4, 0, 1, KiB(64));
  TimePs last = begin;
  while (!AdvanceTo(begin + Microseconds(100)).empty()) last = network_->now();
  EXPECT_GE(last - begin, TransferTime(KiB(128), Gbps(400)) + Nanoseconds(500));
}

TEST_P(BackendContractTest, CountsTheBytesOfEachLink) {
  Send(1, 0, 1, KiB(64));
  Send(2, 1, 0, KiB(1));
  while (!AdvanceTo(Microseconds(100)).empty()) {
  }
  double total = 0;
  for (const double bytes : network_->link_bytes()) total += bytes;
  EXPECT_EQ(network_->link_bytes()[0], 65536);  // The first cable, as listed.
  EXPECT_EQ(network_->link_bytes()[1], 1024);   // The other way.
  EXPECT_EQ(total, 65536 + 1024);
}

TEST_P(BackendContractTest, CountsEventsAndTheMessagesThatHaveArrived) {
  EXPECT_EQ(network_->work().events, 0u);
  Send(1, 0, 1, KiB(64));
  Send(2, 2, 3, KiB(1));
  for (const uint64_t num_arrived : {1u, 2u}) {
    EXPECT_EQ(network_->work().messages, num_arrived - 1);
    AdvanceTo(Microseconds(100));
    EXPECT_EQ(network_->work().messages, num_arrived);
    EXPECT_GE(network_->work().events, num_arrived);
  }
  EXPECT_EQ(network_->statistics().num_events, network_->work().events);
}

// GPUs 0 to 2 below NVSwitch 3: one reduces and multicasts in it.
TEST_P(BackendContractTest, SwitchesReceiveAndSendOnEachPort) {
  const Topology topology = testing::OneServer(3, "400Gbps", "500ns");
  Routes routes(topology);
  const std::unique_ptr<NetworkBackend> network = GetParam().make(routes);
  const TimePs alone = Nanoseconds(500) + TransferTime(KiB(64), Gbps(400));
  const auto arrivals = [&] {
    std::vector<MessageId> arrived;
    network->AdvanceTo(Microseconds(100), &arrived);
    return arrived;
  };
  network->Send({MessageId(0), NodeId(1), NodeId(3), KiB(64)});
  EXPECT_THAT(arrivals(), ElementsAre(MessageId(0)));
  EXPECT_EQ(network->now(), alone);
  network->Send({MessageId(0), NodeId(3), NodeId(0), KiB(64)});
  network->Send({MessageId(1), NodeId(3), NodeId(2), KiB(64)});
  EXPECT_THAT(arrivals(), ElementsAre(MessageId(0), MessageId(1)));
  EXPECT_EQ(network->now(), alone + alone);
}

INSTANTIATE_TEST_SUITE_P(All, BackendContractTest,
                         ::testing::ValuesIn(kBackends), [](const auto& test) {
                           return std::string(test.param.name);
                         });

// What is particular to the analytical backend: no contention beyond the port.
TEST(AnalyticalBackendTest, LinksBeyondThePortCarryAnyNumberOfMessages) {
  const Topology topology = testing::OneServer(3, "400Gbps", "0ns");
  Routes routes(topology);
  AnalyticalBackend network(routes);
  network.Send({MessageId(0), NodeId(0), NodeId(2), KiB(64)});
  network.Send({MessageId(1), NodeId(1), NodeId(2), KiB(64)});
  std::vector<MessageId> arrived;
  network.AdvanceTo(Microseconds(100), &arrived);
  EXPECT_THAT(arrived, ElementsAre(MessageId(0), MessageId(1)));
  EXPECT_EQ(network.now(), TransferTime(KiB(64), Gbps(400)));
}

// From switch 2 by switch 3 or 4 to switch 5: both ways, one after the other.
TEST(AnalyticalBackendTest, WhatLeavesASwitchTakesTurnsOnItsPorts) {
  const Topology topology =
      testing::Drawing(2, 1, 0, 4)
          .Cables({{0, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}, {5, 1}})
          .Build();
  Routes routes(topology);
  AnalyticalBackend network(routes);
  network.Send({MessageId(0), NodeId(2), NodeId(5), KiB(64)});
  network.Send({MessageId(1), NodeId(2), NodeId(5), KiB(64)});
  std::vector<MessageId> arrived;
  const TimePs transfer = TransferTime(KiB(64), Gbps(800));
  network.AdvanceTo(Microseconds(100), &arrived);
  EXPECT_EQ(network.now(), transfer + Microseconds(1));
  network.AdvanceTo(Microseconds(100), &arrived);
  EXPECT_EQ(network.now(), transfer + transfer + Microseconds(1));
}

}  // namespace
}  // namespace astra
