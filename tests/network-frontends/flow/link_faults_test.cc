// Links that change their rate, go down and come up, flow by flow. The expected
// times are worked out by hand: what is left of a message, at the new rate.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "network-frontends/flow/flow_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {
namespace {

constexpr TimePs kFar = Microseconds(1'000'000);
// 1 MB at 400 Gbps takes 20 us.
constexpr Bytes kMessage(1'000'000);

std::map<uint32_t, TimePs> Arrivals(NetworkBackend& network) {
  std::map<uint32_t, TimePs> times;
  while (true) {
    std::vector<MessageId> arrived;
    network.AdvanceTo(kFar, &arrived);
    if (arrived.empty()) return times;
    for (const MessageId id : arrived) times[id.index()] = network.now();
  }
}

Message From(uint32_t id, uint32_t source, uint32_t target,
             uint32_t channel = 0) {
  return {MessageId(id), NodeId(source), NodeId(target), kMessage, channel};
}

// Packets of one byte without header: a message takes its bytes at the rate,
// and the time of a byte on the second link.
FlowOptions Plain() { return {.payload = Bytes(1), .header = Bytes(0)}; }

// GPUs 0 and 1 below switch 2, without propagation delay.
Topology OneSwitch() {
  return Drawing(2, 1, 0, 1)
      .Cable(0, 2, "400Gbps", "0ns")
      .Cable(1, 2, "400Gbps", "0ns")
      .Build();
}

// GPUs 0 and 1 below leaves 2 and 3, which two spines join.
Topology TwoSpines() {
  Drawing drawing(2, 1, 0, 4);
  for (const auto& [a, b] : std::vector<std::pair<uint32_t, uint32_t>>{
           {0, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}}) {
    drawing.Cable(a, b, "400Gbps", "0ns");
  }
  return drawing.Build();
}

void ExpectUs(TimePs time, double us) {
  EXPECT_NEAR(ToMicroseconds(time), us, 1e-3);
}

// Half of the message is there after 10 us; the rest takes four times as long.
TEST(FlowLinkEventTest, WhatIsLeftGoesAtTheNewRate) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.link_events = {{Microseconds(10), NodeId(2), NodeId(1), 0.25}};
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1));
  ExpectUs(Arrivals(network).at(0), 10 + 40);
  EXPECT_EQ(network.link_bytes()[0], 1e6);
}

TEST(FlowLinkEventTest, ARateFromTheStartIsThatOfTheLink) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.link_events = {{TimePs(), NodeId(0), NodeId(2), 0.5}};
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1));
  ExpectUs(Arrivals(network).at(0), 40);
}

// The second message waits behind the first on its connection.
TEST(FlowLinkEventTest, ALinkThatIsDownStopsWhatNeedsIt) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.link_events = {{Microseconds(5), NodeId(2), NodeId(1), 0},
                         {Microseconds(100), NodeId(2), NodeId(1), 1}};
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1));
  network.Send(From(1, 0, 1));
  const std::map<uint32_t, TimePs> times = Arrivals(network);
  ExpectUs(times.at(0), 115);
  ExpectUs(times.at(1), 135);
}

// A message that is sent while the link is down waits, too.
TEST(FlowLinkEventTest, WithoutAnotherPathItSaysWhy) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.link_events = {{Microseconds(5), NodeId(2), NodeId(1), 0}};
  FlowBackend network(topology, options);
  std::vector<MessageId> arrived;
  network.AdvanceTo(Microseconds(7), &arrived);
  network.Send(From(0, 0, 1));
  EXPECT_TRUE(Arrivals(network).empty());
  EXPECT_EQ(network.WhyStuck(),
            "no path leads from GPU 0 to GPU 1: switch 2 (tier 1) -> GPU 1 at "
            "400 Gbps is down");
}

// Both messages, one over each spine or both over one, end on the other, and
// the links carry what they did carry.
TEST(FlowLinkEventTest, MessagesGoOnAlongAnotherPath) {
  const Topology topology = TwoSpines();
  for (const uint32_t spine : {4U, 5U}) {
    FlowOptions options = Plain();
    options.link_events = {{Microseconds(5), NodeId(2), NodeId(spine), 0}};
    FlowBackend network(topology, options);
    network.Send(From(0, 0, 1));
    ExpectUs(Arrivals(network).at(0), 20);
    const size_t failed = spine == 4 ? 4 : 6;
    const size_t other = spine == 4 ? 6 : 4;
    const double before = network.link_bytes()[failed];
    EXPECT_TRUE(before == 0 || std::abs(before - 250'000) < 1) << before;
    EXPECT_NEAR(network.link_bytes()[other], 1e6 - before, 1);
  }
}

// Until the change is known, messages on the failed path stand still. Of one
// channel after the other, some take the failed spine.
TEST(FlowLinkEventTest, ReroutingTakesItsTime) {
  const Topology topology = TwoSpines();
  FlowOptions options = Plain();
  options.link_events = {{Microseconds(5), NodeId(2), NodeId(4), 0}};
  options.reroute_delay = Microseconds(30);
  bool has_stood = false;
  for (uint32_t channel = 0; channel < 8; ++channel) {
    FlowBackend network(topology, options);
    network.Send(From(0, 0, 1, channel));
    const TimePs time = Arrivals(network).at(0);
    if (time > Microseconds(21)) {
      has_stood = true;
      ExpectUs(time, 20 + 30);
    } else {
      ExpectUs(time, 20);
    }
  }
  EXPECT_TRUE(has_stood);
}

// Returns the number of the first channel from GPU 0 to GPU 1 whose messages
// take spine 4, over link 4, in the network of `options`.
uint32_t ChannelOverSpine4(const Topology& topology, FlowOptions options) {
  options.link_events = {};
  for (uint32_t channel = 0;; ++channel) {
    FlowBackend network(topology, options);
    network.Send(From(0, 0, 1, channel));
    if (network.link_bytes()[4] > 0) return channel;
  }
}

// The cable fails before its first byte. After the change of routes, all bytes
// count on the other cables, whatever part of each message is headers: 1 byte
// of 83 on the wire, 10,000 of 10,246, and 1,000,000 of 1,020,090.
TEST(FlowLinkEventTest, MessagesOfAllSizesMoveWhole) {
  const Topology topology = TwoSpines();
  FlowOptions options;
  options.reroute_delay = Microseconds(30);
  options.link_events = {{TimePs(), NodeId(2), NodeId(4), 0}};
  const uint32_t channel = ChannelOverSpine4(topology, options);
  for (const bool longest_first : {false, true}) {
    FlowBackend network(topology, options);
    std::vector<Bytes> sizes = {Bytes(1), Bytes(10'000), Bytes(1'000'000)};
    if (longest_first) std::reverse(sizes.begin(), sizes.end());
    for (uint32_t id = 0; id < sizes.size(); ++id) {
      Message message = From(id, 0, 1, channel);
      message.bytes = sizes[id];
      network.Send(message);
    }
    EXPECT_EQ(Arrivals(network).size(), 3u);
    EXPECT_EQ(network.link_bytes()[4], 0);
    EXPECT_EQ(network.link_bytes()[6], 1'010'001);
    EXPECT_EQ(network.statistics().links[4].bytes, 0);
    EXPECT_NEAR(network.statistics().links[6].bytes, 1'030'419, 1e-6);
  }
}

// The message is to take spine 5 from 30 us on, but that has failed, too. One
// sent at 40 us waits behind it. At 90 us spine 4 is known to be back, and both
// take it: 40 us for two messages.
TEST(FlowLinkEventTest, WhatIsSentBehindAMessageThatWaitsTakesItsLinks) {
  const Topology topology = TwoSpines();
  FlowOptions options = Plain();
  options.reroute_delay = Microseconds(30);
  options.link_events = {{TimePs(), NodeId(2), NodeId(4), 0},
                         {Microseconds(20), NodeId(2), NodeId(5), 0},
                         {Microseconds(60), NodeId(2), NodeId(4), 1}};
  const uint32_t channel = ChannelOverSpine4(topology, options);
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1, channel));
  std::vector<MessageId> arrived;
  network.AdvanceTo(Microseconds(40), &arrived);
  network.Send(From(1, 0, 1, channel));
  EXPECT_EQ(network.link_bytes()[4], 0);
  ExpectUs(Arrivals(network).at(1), 90 + 40);
  EXPECT_EQ(network.link_bytes()[4], 2e6);
  EXPECT_EQ(network.link_bytes()[6], 0);
}

// 5 us of the message leave before the only link fails. A short outage ends
// before anyone has changed routes. After a longer one, nobody uses the link
// until they know that it is back.
TEST(FlowLinkEventTest, ALinkIsUsedAgainWhenItIsKnownToBeBack) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.reroute_delay = Microseconds(30);
  for (const auto& [back_us, goes_on_us] :
       std::vector<std::pair<int64_t, double>>{
           {25, 25}, {35, 35}, {36, 66}, {100, 130}}) {
    options.link_events = {{Microseconds(5), NodeId(0), NodeId(2), 0},
                           {Microseconds(back_us), NodeId(0), NodeId(2), 1}};
    FlowBackend network(topology, options);
    network.Send(From(0, 0, 1));
    ExpectUs(Arrivals(network).at(0), goes_on_us + 15);
  }
}

// A link that flaps faster than anyone notices costs the time of its absence.
TEST(FlowLinkEventTest, AShortAbsenceCostsItsTime) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.reroute_delay = Microseconds(50);
  options.link_events = {{Microseconds(5), NodeId(0), NodeId(2), 0},
                         {Microseconds(8), NodeId(0), NodeId(2), 1},
                         {Microseconds(10), NodeId(0), NodeId(2), 0},
                         {Microseconds(13), NodeId(0), NodeId(2), 1}};
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1));
  ExpectUs(Arrivals(network).at(0), 26);
}

// 10 us at the full rate and 40 us at a quarter: busy all the time.
TEST(FlowLinkEventTest, ALinkIsBusyAtTheRateThatItHas) {
  const Topology topology = OneSwitch();
  FlowOptions options = Plain();
  options.link_events = {{Microseconds(10), NodeId(2), NodeId(1), 0.25}};
  FlowBackend network(topology, options);
  network.Send(From(0, 0, 1));
  Arrivals(network);
  ExpectUs(network.statistics().links[3].busy, 50);
  ExpectUs(network.statistics().links[0].busy, 20);
}

}  // namespace
}  // namespace astra::testing
