#include "network-frontends/packet/zones/zoned_packet_network.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/random.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/zones/zoning.h"
#include "network-frontends/zoned_network.h"
#include "tests/network-frontends/packet/random_network.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

constexpr uint32_t kNumAnswers = 3;

// Returns the answer to a message: the node at which it arrived sends to one
// that a hash chooses. None once there were kNumAnswers in a row.
std::optional<Message> AnswerTo(const Message& message, uint32_t num_messages,
                                uint32_t num_gpus) {
  const uint32_t id = message.id.index() + num_messages;
  if (id >= num_messages * (kNumAnswers + 1)) return std::nullopt;
  if (message.target.index() >= num_gpus || num_gpus < 2) return std::nullopt;
  const uint64_t draw = HashOf(uint64_t{id});
  const auto away = static_cast<uint32_t>(1 + draw % (num_gpus - 1));
  return Message{.id = MessageId(id),
                 .source = message.target,
                 .target = NodeId((message.target.index() + away) % num_gpus),
                 .bytes = Bytes(static_cast<int64_t>(draw % 20'000)),
                 .channel = static_cast<uint32_t>(draw >> 32 & 1)};
}

// Sends the messages of the nodes of one zone, and answers what arrives there
// at the same instant.
class AnsweringDriver final : public ZoneDriver {
 public:
  AnsweringDriver(const testing::RandomNetwork& network,
                  NetworkBackend& backend,
                  const std::function<bool(NodeId)>& owns)
      : network_(network), backend_(backend) {
    for (const testing::TimedMessage& timed : network.messages) {
      if (owns(timed.message.source)) to_send_.push_back(timed);
    }
  }

  void AdvanceTo(TimePs limit) override {
    while (true) {
      std::vector<MessageId> arrived;
      backend_.AdvanceTo(std::min(limit, next()), &arrived);
      for (const MessageId id : arrived) Answer(id);
      const bool sends = next() == backend_.now();
      while (next() == backend_.now()) {
        backend_.Send(to_send_[num_sent_++].message);
      }
      if (!sends && arrived.empty() && backend_.now() == limit) return;
    }
  }
  TimePs next() const override {
    return num_sent_ < to_send_.size() ? to_send_[num_sent_].time : kNever;
  }
  uint64_t num_done() const override { return arrivals_.size(); }
  bool needs_other_zone() const override { return false; }

  const std::map<uint32_t, TimePs>& arrivals() const { return arrivals_; }

 private:
  // Finds the message by going from the first of the row to the one that has
  // arrived.
  void Answer(MessageId id) {
    arrivals_[id.index()] = backend_.now();
    const auto num_messages = static_cast<uint32_t>(network_.messages.size());
    std::optional<Message> message =
        network_.messages[id.index() % num_messages].message;
    const uint32_t num_gpus = network_.topology.num_gpus();
    while (message->id != id) {
      message = AnswerTo(*message, num_messages, num_gpus);
    }
    message = AnswerTo(*message, num_messages, num_gpus);
    if (message) backend_.Send(*message);
  }

  const testing::RandomNetwork& network_;
  NetworkBackend& backend_;
  std::vector<testing::TimedMessage> to_send_;
  size_t num_sent_ = 0;
  std::map<uint32_t, TimePs> arrivals_;  // By message.
};

struct Outcome {
  std::map<uint32_t, TimePs> arrivals;
  std::vector<double> link_bytes;
};

Outcome RunOnOneThread(const testing::RandomNetwork& network) {
  PacketBackend backend(network.topology, network.options);
  AnsweringDriver driver(network, backend, [](NodeId) { return true; });
  driver.AdvanceTo(Microseconds(1'000'000));
  const auto bytes = backend.link_bytes();
  return {driver.arrivals(), {bytes.begin(), bytes.end()}};
}

// Runs the network in zones until as many messages have arrived as in `alone`.
Outcome RunInZones(const testing::RandomNetwork& network, Zoning zoning,
                   const Outcome& alone) {
  ZonedPacketNetwork zoned(network.topology, network.options,
                           std::move(zoning));
  std::vector<std::unique_ptr<AnsweringDriver>> drivers;
  std::vector<ZoneDriver*> pointers;
  for (uint32_t i = 0; i < zoned.num_zones(); ++i) {
    drivers.push_back(std::make_unique<AnsweringDriver>(
        network, zoned.zone(ZoneId(i)),
        [&, i](NodeId node) { return zoned.ZoneOf(node) == ZoneId(i); }));
    pointers.push_back(drivers.back().get());
  }
  const absl::Status status = zoned.Run(pointers, alone.arrivals.size());
  EXPECT_TRUE(status.ok()) << status;
  Outcome outcome;
  for (const auto& driver : drivers) {
    outcome.arrivals.insert(driver->arrivals().begin(),
                            driver->arrivals().end());
  }
  outcome.link_bytes = zoned.link_bytes();
  return outcome;
}

// A network as DrawNetwork() makes it, without what zones cannot have.
testing::RandomNetwork DrawZonable(uint64_t seed) {
  testing::Choices choices(seed);
  testing::RandomNetwork network = testing::DrawNetwork(choices);
  PacketOptions& options = network.options;
  options.fabric.pfc = true;
  options.nv_switch.pfc = true;
  options.link_events.clear();
  options.background.clear();
  options.record = {};
  options.load_balancing = LoadBalancing::kEcmp;
  options.nic.packets_per_ack = 1;
  options.nic.queue_pairs = QueuePairs::kPerConnection;
  options.nic.completion = Completion::kDelivered;
  return network;
}

// Runs a network on one thread and in zones, unless there are fewer zones or it
// takes too many windows. Returns how many messages arrived.
uint64_t Compare(const testing::RandomNetwork& network, uint32_t num_zones) {
  constexpr int64_t kMostWindows = 400;
  absl::StatusOr<Zoning> zoning =
      FindZones(PacketSetup(network.topology, network.options), num_zones);
  if (!zoning.ok() || zoning->num_zones < num_zones) return 0;
  const Outcome alone = RunOnOneThread(network);
  TimePs end;
  for (const auto& [_, time] : alone.arrivals) end = std::max(end, time);
  if (end > kMostWindows * zoning->lookahead) return 0;
  const Outcome zoned = RunInZones(network, *std::move(zoning), alone);
  EXPECT_EQ(zoned.arrivals, alone.arrivals);
  EXPECT_EQ(zoned.link_bytes, alone.link_bytes);
  return alone.arrivals.size();
}

TEST(ZonedPacketNetworkTest, RandomNetworksArriveAsOnOneThread) {
  for (const uint32_t num_zones : {2U, 3U}) {
    uint32_t num_compared = 0;
    uint64_t num_messages = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE(seed);
      const uint64_t arrived = Compare(DrawZonable(seed), num_zones);
      num_messages += arrived;
      num_compared += arrived > 0 ? 1 : 0;
    }
    EXPECT_GT(num_compared, 20U);
    EXPECT_GT(num_messages, 500U);
  }
}

}  // namespace
}  // namespace astra
