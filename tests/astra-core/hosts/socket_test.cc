#include "astra-core/hosts/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/hosts/doorway.h"
#include "astra-core/hosts/message_link.h"
#include "astra-core/hosts/poller.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

TEST(EndpointTest, HasAHostAndAPort) {
  const auto text = [](std::string_view given) {
    return ValueOrDie(ParseEndpoint("--coordinator", given, 7)).ToString();
  };
  EXPECT_EQ(text("node1"), "node1:7");
  EXPECT_EQ(text("node1:80"), "node1:80");
  EXPECT_EQ(text("[fe80::1]:80"), "[fe80::1]:80");
  EXPECT_EQ(text("fe80::1"), "[fe80::1]:7");
  for (const std::string_view wrong :
       {"", ":80", "node1:", "node1:0", "node1:65536", "[fe80::1", "[]:8"}) {
    EXPECT_FALSE(ParseEndpoint("--coordinator", wrong, 7).ok()) << wrong;
  }
  EXPECT_EQ(ParseEndpoint("--coordinator", "a:b", 7).status().message(),
            "--coordinator is \"a:b\": expected HOST or HOST:PORT, such as "
            "node1:29411");
}

// Returns the address of whoever connects to `host` on a port of all addresses;
// "" if it cannot connect.
std::string PeerAt(const std::string& host) {
  const Socket listener = ValueOrDie(Listen({"", 0}));
  const auto client = StartConnect({host, PortOf(listener)});
  if (!client.ok()) return "";
  Poller poller;
  poller.Add(listener, 1, {.reads = true});
  poller.Wait(HostClock::now() + std::chrono::seconds(2));
  const auto accepted = ValueOrDie(AcceptFrom(listener));
  return accepted ? PeerOf(*accepted) : "";
}

TEST(ListenTest, AllAddressesAreThoseOfIpv4AndIpv6) {
  EXPECT_EQ(PeerAt("127.0.0.1"), "127.0.0.1");
  const bool has_ipv6 = Listen({"::1", 0}).ok();
  if (has_ipv6) {
    EXPECT_EQ(PeerAt("::1"), "::1");
  }
}

TEST(PollerTest, WaitsForAnInstant) {
  Poller poller;
  const Instant until = HostClock::now() + milliseconds(20);
  EXPECT_TRUE(poller.Wait(until).empty());
  EXPECT_GE(HostClock::now(), until);
  EXPECT_TRUE(poller.Wait(until).empty());  // Past instants are over at once.
}

// Two ends in one process, over the loopback device.
class DoorwayTest : public ::testing::Test {
 protected:
  DoorwayTest() : doorway_(secret_, poller_, 100) {
    Socket listener = ValueOrDie(Listen({"127.0.0.1", 0}));
    endpoint_ = {"127.0.0.1", PortOf(listener)};
    doorway_.Open(std::move(listener));
  }

  // Goes on until `is_enough`, but not for longer than two seconds.
  template <class IsEnough>
  void Step(IsEnough is_enough) {
    const Instant until = HostClock::now() + std::chrono::seconds(2);
    while (!is_enough() && HostClock::now() < until) {
      for (const Ready& ready : poller_.Wait(until)) doorway_.OnReady(ready);
      for (Entered& each : doorway_.TakeEntered()) {
        entered_.push_back(std::move(each));
      }
      for (Refused& each : doorway_.TakeRefused()) {
        refused_.push_back(std::move(each));
      }
    }
  }

  const Secret secret_ = Secret::Draw();
  Poller poller_;
  Doorway doorway_;
  Endpoint endpoint_;
  std::vector<Entered> entered_;
  std::vector<Refused> refused_;
};

TEST_F(DoorwayTest, LetsTheTwoEndsIn) {
  ASSERT_TRUE(doorway_.Connect(endpoint_, "rank 3").ok());
  Step([&] { return entered_.size() == 2; });
  ASSERT_EQ(entered_.size(), 2u);
  for (const Entered& each : entered_) EXPECT_EQ(each.claim, "rank 3");
  EXPECT_NE(entered_[0].connects, entered_[1].connects);
}

TEST_F(DoorwayTest, ShutsOthersOut) {
  Poller elsewhere;
  const Secret other = Secret::Draw();
  Doorway stranger(other, elsewhere, 1);
  ASSERT_TRUE(stranger.Connect(endpoint_, "rank 3").ok());
  std::vector<Refused> told;
  Step([&] {
    for (const Ready& ready : elsewhere.Wait(HostClock::now())) {
      stranger.OnReady(ready);
    }
    for (Refused& each : stranger.TakeRefused())
      told.push_back(std::move(each));
    return !told.empty();
  });
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(absl::IsPermissionDenied(told[0].why));
  EXPECT_TRUE(entered_.empty());
}

TEST_F(DoorwayTest, NobodyIsThere) {
  const uint16_t port =
      PortOf(ValueOrDie(Listen({"127.0.0.1", 0})));  // Closed again.
  ASSERT_TRUE(doorway_.Connect({"127.0.0.1", port}, "").ok());
  Step([&] { return !refused_.empty(); });
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_TRUE(refused_[0].connects);
  EXPECT_EQ(refused_[0].why.message(), "Connection refused");
}

// Without a pause the poller would return at once, again and again, since the
// connection that cannot be accepted still waits.
TEST_F(DoorwayTest, RestsWhileSocketsHaveRunOut) {
  const Socket waiting = ValueOrDie(StartConnect(endpoint_));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto allow = [&](rlim_t most) {
    const rlimit limit{most, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  };
  allow(static_cast<rlim_t>(waiting.descriptor()) + 1);
  Step([&] { return !refused_.empty(); });
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].why.message(), "Too many open files");
  const Instant soon = HostClock::now() + milliseconds(20);
  EXPECT_TRUE(poller_.Wait(soon).empty());
  EXPECT_GE(HostClock::now(), soon);

  allow(before.rlim_cur);
  ASSERT_TRUE(doorway_.Connect(endpoint_, "").ok());
  std::this_thread::sleep_for(milliseconds(110));
  doorway_.CloseLate();
  Step([&] { return entered_.size() == 2; });
  EXPECT_EQ(entered_.size(), 2u);
}

TEST_F(DoorwayTest, NobodyComesInOnceItIsClosed) {
  doorway_.Close();
  ASSERT_TRUE(doorway_.Connect(endpoint_, "").ok());
  Step([&] { return !refused_.empty(); });
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].why.message(), "Connection refused");
}

// The kernel ends a connection with this limit also when the other end has no
// room for as long. A rank that computes for minutes takes no bytes of the
// messages that wait for it, so only control messages may have the limit.
TEST_F(DoorwayTest, OnlyMessageLinksLimitTheSilence) {
  const auto limit_ms = [](const Socket& socket) {
    int value = -1;
    socklen_t size = sizeof(value);
    EXPECT_EQ(getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT,
                         &value, &size),
              0);
    return value;
  };
  ASSERT_TRUE(doorway_.Connect(endpoint_, "").ok());
  Step([&] { return entered_.size() == 2; });
  ASSERT_EQ(entered_.size(), 2u);
  for (const Entered& each : entered_) EXPECT_EQ(limit_ms(each.socket), 0);
  const MessageLink link(std::move(entered_[0].socket), poller_, 1);
  EXPECT_EQ(limit_ms(link.socket()), 60'000);
}

TEST_F(DoorwayTest, MessagesArriveWholeAndThenTheEnd) {
  ASSERT_TRUE(doorway_.Connect(endpoint_, "").ok());
  Step([&] { return entered_.size() == 2; });
  ASSERT_EQ(entered_.size(), 2u);
  MessageLink sender(std::move(entered_[0].socket), poller_, 1);
  MessageLink receiver(std::move(entered_[1].socket), poller_, 2);
  const std::string large(size_t{5} << 20, 'x');
  sender.Send("first");
  sender.Send(large);
  std::vector<std::string> messages;
  absl::Status end;
  const Instant until = HostClock::now() + std::chrono::seconds(5);
  while (end.ok() && HostClock::now() < until) {
    for (const Ready& ready : poller_.Wait(until)) {
      if (ready.token == 2) end = receiver.OnReady(ready, &messages);
      if (ready.token == 1 && sender.is_open()) {
        std::vector<std::string> none;
        ASSERT_TRUE(sender.OnReady(ready, &none).ok());
      }
    }
    if (messages.size() == 2 && sender.is_open()) sender.Close();
  }
  EXPECT_THAT(messages, ElementsAre("first", large));
  EXPECT_EQ(end.message(), "the connection has ended");
}

}  // namespace
}  // namespace astra::testing
