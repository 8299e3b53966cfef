// What tests of the packet network share: small networks of equal links, and
// runs to their end.

#ifndef TESTS_NETWORK_FRONTENDS_PACKET_PACKET_RUNS_H_
#define TESTS_NETWORK_FRONTENDS_PACKET_PACKET_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/packet/packet_options.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {

inline constexpr TimePs kEndless(std::numeric_limits<int64_t>::max());

inline Message From(uint32_t id, uint32_t source, uint32_t target, Bytes bytes,
                    uint32_t channel = 0) {
  return {MessageId(id), NodeId(source), NodeId(target), bytes, channel};
}

// When each message arrives, by id, until none is left or nothing happens any
// more. Expects that none arrives twice.
inline std::map<uint32_t, TimePs> Arrivals(NetworkBackend& network,
                                           size_t num_messages) {
  std::map<uint32_t, TimePs> times;
  while (times.size() < num_messages) {
    std::vector<MessageId> arrived;
    network.AdvanceTo(kEndless, &arrived);
    if (arrived.empty()) break;
    for (const MessageId id : arrived) {
      EXPECT_TRUE(times.emplace(id.index(), network.now()).second)
          << id.index();
    }
  }
  return times;
}

// Sends all and gives the last arrival. Expects that all arrive.
inline TimePs Finish(NetworkBackend& network,
                     const std::vector<Message>& messages) {
  for (const Message& message : messages) network.Send(message);
  EXPECT_EQ(Arrivals(network, messages.size()).size(), messages.size());
  return network.now();
}

// Simulates up to `time`; no message may arrive before.
inline void AdvanceTo(TimePs time, NetworkBackend& network) {
  std::vector<MessageId> arrived;
  network.AdvanceTo(time, &arrived);
  EXPECT_TRUE(arrived.empty());
  EXPECT_EQ(network.now(), time);
}

// No congestion control, no ECN, and no window: what the links can do.
inline PacketOptions Plain() {
  PacketOptions options;
  options.congestion.name = "none";
  options.fabric.ecn = false;
  options.nic.window = WindowScope::kNone;
  return options;
}

// A full packet of Plain(): 4096 + 82 B.
inline constexpr Bytes kFull(4178);

// GPUs 0 and 1 at the ends of `num_links` links, switches between. Link 2 i
// leads on from GPU 0, link 2 i + 1 back.
inline Topology Chain(uint32_t num_links, const std::string& rate = "400Gbps",
                      const std::string& latency = "500ns") {
  Drawing drawing(2, 1, 0, num_links - 1);
  uint32_t last = 0;
  for (uint32_t i = 1; i < num_links; ++i) {
    drawing.Cable(last, i + 1, rate, latency);
    last = i + 1;
  }
  drawing.Cable(last, 1, rate, latency);
  return drawing.Build();
}

// `num_senders` GPUs and then a receiver, of 400 Gbps and 500 ns each, below
// one switch. Link 2 i leads from GPU i to the switch, 2 i + 1 back.
inline Topology Incast(uint32_t num_senders) {
  Drawing drawing(num_senders + 1, 1, 0, 1);
  for (uint32_t i = 0; i <= num_senders; ++i) drawing.Cable(i, num_senders + 1);
  return drawing.Build();
}

inline std::vector<Message> ToLast(uint32_t num_senders, Bytes bytes) {
  std::vector<Message> messages;
  for (uint32_t i = 0; i < num_senders; ++i) {
    messages.push_back(From(i, i, num_senders, bytes));
  }
  return messages;
}

// GPUs 0 .. n - 1 below leaf 2 n, n .. 2 n - 1 below leaf 2 n + 1, and two
// spines. GPUs have 400 Gbps, spines `spine_rate`. Links 0 and 4 lead from the
// first leaf to the spines, 2 and 6 from the second.
inline Topology TwoSpines(uint32_t gpus_per_leaf,
                          const std::string& spine_rate = "400Gbps") {
  const uint32_t leaf = 2 * gpus_per_leaf;
  Drawing drawing(leaf, 1, 0, 4);
  for (const uint32_t spine : {leaf + 2, leaf + 3}) {
    drawing.Cable(leaf, spine, spine_rate, "500ns");
    drawing.Cable(leaf + 1, spine, spine_rate, "500ns");
  }
  for (uint32_t i = 0; i < leaf; ++i) {
    drawing.Cable(i, leaf + i / gpus_per_leaf);
  }
  return drawing.Build();
}

}  // namespace astra::testing

#endif  // TESTS_NETWORK_FRONTENDS_PACKET_PACKET_RUNS_H_
