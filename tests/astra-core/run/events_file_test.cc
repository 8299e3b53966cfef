// The file of --events: what it says happens when, and its mistakes.

#include "astra-core/run/events_file.h"

#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Servers of two GPUs below switches 4 and 5, which switch 6 joins.
Topology TwoServers() {
  return Drawing(4, 2, 0, 3)
      .Cables({{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 6}, {5, 6}})
      .Build();
}

RunEvents Parsed(const std::string& text) {
  return ValueOrDie(
      ParseEvents("e", "simai_events: 1\nevents:\n" + text, TwoServers()));
}

std::string ErrorOf(const std::string& event) {
  return std::string(ParseEvents("e",
                                 "simai_events: 1\nevents: [" + event + "]\n",
                                 TwoServers())
                         .status()
                         .message());
}

// Time in us, ends, and rate of each event.
using Change = std::tuple<double, uint32_t, uint32_t, double>;
std::vector<Change> ChangesOf(const RunEvents& events) {
  std::vector<Change> changes;
  for (const LinkEvent& event : events.links) {
    changes.emplace_back(ToMicroseconds(event.time), event.a.index(),
                         event.b.index(), event.rate_factor);
  }
  return changes;
}

TEST(EventsFileTest, RatesThatHoldAtOnceMultiply) {
  const RunEvents events = Parsed(
      " - {from: 2us, until: 6us, link: [6, 4], rate: 0.5}\n"
      " - {from: 4us, link: [4, 6], rate: 0.25}\n");
  EXPECT_THAT(ChangesOf(events),
              ElementsAre(Change(2, 4, 6, 0.5), Change(4, 4, 6, 0.125),
                          Change(6, 4, 6, 0.25)));
  EXPECT_THAT(events.texts,
              ElementsAre("link switch 6 (tier 2) - switch 4 (tier 1) at 0.5 "
                          "of its rate from 0.002 ms until 0.006 ms",
                          "link switch 4 (tier 1) - switch 6 (tier 2) at 0.25 "
                          "of its rate from 0.004 ms"));
  EXPECT_THAT(events.starts, ElementsAre(Microseconds(2), Microseconds(4)));
  EXPECT_FALSE(events.has_losses);
}

TEST(EventsFileTest, ANicAndASwitchAreTheirCables) {
  const RunEvents events = Parsed(
      " - {from: 1us, nic: 2, down: true}\n"
      " - {from: 3us, switch: 4, rate: 0.5}\n");
  EXPECT_THAT(ChangesOf(events),
              ElementsAre(Change(1, 2, 5, 0), Change(3, 0, 4, 0.5),
                          Change(3, 1, 4, 0.5), Change(3, 4, 6, 0.5)));
}

TEST(EventsFileTest, ALinkFlaps) {
  const RunEvents events = Parsed(
      " - {from: 1us, until: 6us, link: [0, 4], down: true, every: 2us, "
      "for: 500ns}\n");
  EXPECT_THAT(ChangesOf(events),
              ElementsAre(Change(1, 0, 4, 0), Change(1.5, 0, 4, 1),
                          Change(3, 0, 4, 0), Change(3.5, 0, 4, 1),
                          Change(5, 0, 4, 0), Change(5.5, 0, 4, 1)));
}

TEST(EventsFileTest, LossesAndRatesOfACableAreOfOneChange) {
  const RunEvents events = Parsed(
      " - {link: [0, 4], loss: 1e-3}\n"
      " - {until: 2us, link: [0, 4], rate: 0.5}\n");
  ASSERT_THAT(events.links, SizeIs(2));
  EXPECT_EQ(events.links[0].error_rate, 1e-3);
  EXPECT_EQ(events.links[0].rate_factor, 0.5);
  EXPECT_EQ(events.links[1].error_rate, 1e-3);
  EXPECT_EQ(events.links[1].rate_factor, 1);
  EXPECT_TRUE(events.has_losses);
}

TEST(EventsFileTest, ALossOfNothingEndsTheErrorsOfTheNetwork) {
  const RunEvents events = ValueOrDie(
      ParseEvents("e", "simai_events: 1\nevents: [{nic: 0, loss: 0}]\n",
                  TwoServers(), /*error_rate=*/0.01));
  ASSERT_THAT(events.links, SizeIs(1));
  EXPECT_EQ(events.links[0].error_rate, 0);
}

TEST(EventsFileTest, SpeedsAreOfGpus) {
  const RunEvents events = Parsed(
      " - {from: 1us, until: 3us, server: 1, speed: 0.5}\n"
      " - {from: 2us, gpu: 3, speed: 0.5}\n"
      " - {from: 5us, gpu: 0, dead: true}\n");
  EXPECT_THAT(events.links, IsEmpty());
  std::vector<std::tuple<double, uint32_t, double>> changes;
  for (const SpeedChange& change : events.speeds) {
    changes.emplace_back(ToMicroseconds(change.time), change.rank.index(),
                         change.speed);
  }
  EXPECT_THAT(changes, ElementsAre(std::tuple(1, 2, 0.5), std::tuple(1, 3, 0.5),
                                   std::tuple(2, 3, 0.25), std::tuple(3, 2, 1),
                                   std::tuple(3, 3, 0.5), std::tuple(5, 0, 0)));
}

TEST(EventsFileTest, MistakesHaveAPlace) {
  EXPECT_EQ(ErrorOf("{gpu: 4, speed: 0.5}"),
            "e:2:16: gpu is \"4\": expected a whole number from 0 to 3");
  EXPECT_EQ(ErrorOf("{gpu: 1, rate: 0.5}"),
            "e:2:25: a gpu has none: expected speed or dead");
  EXPECT_EQ(ErrorOf("{link: [0, 4], speed: 2}"),
            "e:2:32: a link has none: expected rate, down or loss");
  EXPECT_EQ(ErrorOf("{link: [0, 5], down: true}"),
            "e:2:17: no cable connects GPU 0 and switch 5 (tier 1)");
  EXPECT_EQ(ErrorOf("{link: [0], down: true}"),
            "e:2:17: expected two nodes below 7, such as [3, 47]");
  EXPECT_EQ(ErrorOf("{link: [0, 4]}"),
            "e:2:10: expected one of rate, down, loss, speed, dead");
  EXPECT_EQ(ErrorOf("{link: [0, 4], lose: 0.01}"),
            "e:2:31: unknown field of an event \"lose\"; did you mean "
            "\"loss\"? (known: dead, down, every, for, from, gpu, link, loss, "
            "nic, rate, server, speed, switch, until)");
  EXPECT_EQ(ErrorOf("{link: [0, 4], every: 1ms}"),
            "e:2:10: expected one of rate, down, loss, speed, dead");
  EXPECT_EQ(ErrorOf("{link: [0, 4], gpu: 1, down: true}"),
            "e:2:30: expected only one of link, switch, nic, gpu, server");
  EXPECT_EQ(ErrorOf("{from: 2us, until: 1us, gpu: 1, speed: 2}"),
            "e:2:29: expected after from");
  EXPECT_EQ(ErrorOf("{gpu: 1, speed: 1.5}"),
            "e:2:26: speed is \"1.5\": expected a number from 1e-06 to 1");
  EXPECT_EQ(ErrorOf("{gpu: 1, speed: 0.5, every: 1ms}"),
            "e:2:38: only events of links, NICs and switches repeat");
  EXPECT_EQ(ErrorOf("{gpu: 1, dead: false}"), "e:2:25: expected true");
  EXPECT_EQ(ErrorOf("{until: 3us, gpu: 1, dead: true}"),
            "e:2:18: the dead stay dead");
  EXPECT_EQ(ErrorOf("{link: [0, 4], down: true, every: 1ms}"),
            "e:2:44: expected every and for together");
  EXPECT_EQ(ErrorOf("{link: [0, 4], down: true, every: 1ms, for: 1us}"),
            "e:2:44: expected until, when this ends");
  EXPECT_EQ(ErrorOf("{link: [0, 4], rate: 1}"),
            "e:2:31: rate is 1, which changes nothing: expected below 1");
  EXPECT_EQ(ErrorOf("{gpu: 3, speed: 1}"),
            "e:2:26: speed is 1, which changes nothing: expected below 1");
  EXPECT_EQ(ErrorOf("{link: [0, 4], loss: 0}"),
            "e:2:31: loss is 0, which changes nothing on links that lose no "
            "packets: expected above 0");
  EXPECT_EQ(ErrorOf(""), "e:2:9: expected at least one event");
}

}  // namespace
}  // namespace astra::testing
