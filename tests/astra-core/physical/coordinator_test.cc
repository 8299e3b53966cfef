#include "astra-core/physical/coordinator.h"

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/physical/rank_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

// A rank that says what the test lets it say.
class FakeRank {
 public:
  FakeRank(const Secret& secret, const Endpoint& endpoint)
      : doorway_(secret, poller_, 100) {
    EXPECT_TRUE(doorway_.Connect(endpoint, "join").ok());
    while (!link_) {
      for (const Ready& ready : Wait()) doorway_.OnReady(ready);
      for (Entered& entered : doorway_.TakeEntered()) {
        link_.emplace(std::move(entered.socket), poller_, 1);
      }
    }
  }

  void Send(const ControlMessage& message) { link_->Send(Encode(message)); }
  void Join(RankId rank, uint32_t num_ranks, std::string boot,
            std::string address) {
    Send(JoinMessage{.rank = rank,
                     .num_ranks = num_ranks,
                     .digest = "same",
                     .host = "node1",
                     .boot = std::move(boot),
                     .address = std::move(address),
                     .port = 1});
  }

  // Waits for the next message, which has to be of this kind.
  template <class Message>
  Message Next() {
    std::vector<std::string> messages;
    while (messages.empty()) {
      for (const Ready& ready : Wait()) {
        link_->OnReady(ready, &messages).IgnoreError();
      }
    }
    return std::get<Message>(ValueOrDie(ParseControlMessage(messages.front())));
  }

 private:
  // A test that waits too long is ended by the test's limit.
  absl::Span<const Ready> Wait() {
    return poller_.Wait(HostClock::now() + std::chrono::seconds(1));
  }

  Poller poller_;
  Doorway doorway_;
  std::optional<MessageLink> link_;
};

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest() : listener_(ValueOrDie(Listen({"127.0.0.1", 0}))) {}

  // Coordinates `num_ranks` ranks; `script` is what they do.
  absl::Status ErrorOf(
      uint32_t num_ranks,
      const std::function<void(const Secret&, const Endpoint&)>& script) {
    const Endpoint endpoint{"127.0.0.1", PortOf(listener_)};
    const CoordinatorSetting setting{.num_ranks = num_ranks,
                                     .digest = "same",
                                     .num_iterations = 2,
                                     .join_limit = std::chrono::seconds(10),
                                     .time_limit = std::chrono::seconds(10),
                                     .patience = patience_};
    Coordinator coordinator(
        setting, secret_, std::move(listener_),
        [this](std::string_view text) { warnings_.emplace_back(text); });
    auto status = std::async(std::launch::async, [&] {
      return coordinator
          .Run([](const PhysicalProgress&) { return absl::OkStatus(); })
          .status();
    });
    script(secret_, endpoint);
    return status.get();
  }

  // Errors of a run of one rank, on another host, which does `script` once it
  // has joined.
  absl::Status ErrorOfRank(const std::function<void(FakeRank&)>& script) {
    return ErrorOf(1, [&](const Secret& secret, const Endpoint& endpoint) {
      FakeRank rank(secret, endpoint);
      rank.Join(RankId(0), 1, "another kernel", "");
      rank.Next<RosterMessage>();
      script(rank);
      rank.Next<AbortMessage>();
    });
  }

  static void Answer(FakeRank& rank, HostTime ahead) {
    for (int i = 0; i < 16; ++i) {
      const auto ping = rank.Next<PingMessage>();
      rank.Send(PongMessage{ping.number,
                            HostClock::now().time_since_epoch() + ahead});
    }
  }

  const Secret secret_ = Secret::Draw();
  Socket listener_;
  std::vector<std::string> warnings_;
  std::chrono::milliseconds patience_ = std::chrono::seconds(10);
};

absl::Status Unexpected(std::string_view what) {
  return absl::AbortedError("rank 0 on node1 sends a " + std::string(what) +
                            " that does not belong here: it is no rank of "
                            "this version");
}

TEST_F(CoordinatorTest, ARankIsConnectedOnce) {
  EXPECT_EQ(ErrorOfRank([](FakeRank& rank) {
              rank.Send(ConnectedMessage{});
              rank.Next<PingMessage>();
              rank.Send(ConnectedMessage{});
            }),
            Unexpected("Connected"));
}

TEST_F(CoordinatorTest, ARankAnswersOnlyPings) {
  EXPECT_EQ(ErrorOfRank([](FakeRank& rank) { rank.Send(PongMessage{}); }),
            Unexpected("Pong"));
}

TEST_F(CoordinatorTest, ARankReportsNoIterationThatHasNotBegun) {
  EXPECT_EQ(ErrorOfRank([](FakeRank& rank) { rank.Send(ReportMessage{}); }),
            Unexpected("Report"));
}

// The clock of the rank is an hour ahead of the coordinator's, and is compared
// with it again before the second iteration, which the rank must not report
// until it has begun.
TEST_F(CoordinatorTest, ClocksAreComparedBeforeEachIteration) {
  constexpr HostTime kAhead = std::chrono::hours(1);
  EXPECT_EQ(ErrorOfRank([&](FakeRank& rank) {
              rank.Send(ConnectedMessage{});
              Answer(rank, kAhead);
              const auto begin = rank.Next<BeginMessage>();
              const HostTime soon =
                  begin.at - kAhead - HostClock::now().time_since_epoch();
              EXPECT_LT(std::chrono::abs(soon), std::chrono::seconds(5));
              rank.Send(ReportMessage{.iteration = 0, .report = {}});
              rank.Next<PingMessage>();
              rank.Send(ReportMessage{.iteration = 1, .report = {}});
            }),
            Unexpected("Report"));
}

TEST_F(CoordinatorTest, RanksOfSeveralHostsNeedAddressesThatAllCanReach) {
  EXPECT_EQ(
      ErrorOf(2,
              [](const Secret& secret, const Endpoint& endpoint) {
                FakeRank first(secret, endpoint);
                FakeRank second(secret, endpoint);
                first.Join(RankId(0), 2, "kernel", "10.0.0.1");
                second.Join(RankId(1), 2, "another kernel", "");
                first.Next<AbortMessage>();
              }),
      absl::AbortedError(
          "rank 1 on node1 has the address 127.0.0.1, at which ranks of other "
          "hosts cannot reach it: give it another with address= in the host "
          "file, or with --address"));
}

TEST_F(CoordinatorTest, WhoHasTheSecretButIsNoRankIsShutOut) {
  patience_ = std::chrono::milliseconds(100);
  ErrorOf(1, [](const Secret& secret, const Endpoint& endpoint) {
    FakeRank silent(secret, endpoint);
    EXPECT_EQ(silent.Next<AbortMessage>().why,
              "it does not say which rank it is");
    FakeRank rank(secret, endpoint);
    rank.Join(RankId(0), 1, BootId(), "");
    rank.Next<RosterMessage>();
  }).IgnoreError();
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("a process on 127.0.0.1 was refused"));
}

}  // namespace
}  // namespace astra::testing
