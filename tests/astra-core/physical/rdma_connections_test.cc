#include "astra-core/physical/rdma_connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/physical/rdma_greeting.h"
#include "astra-core/physical/rdma_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAreArray;

// Writes that have begun and not ended, of all endpoints of a test. They end in
// any order.
class FakeNetwork {
 public:
  struct Write {
    uint64_t source = 0;
    uint64_t target = 0;
    size_t at = 0;  // Position in the memory of the target.
    std::string bytes;
    uint32_t notice = 0;
    WriteTicket* ticket = nullptr;
  };

  std::map<uint64_t, absl::Span<char>> memory;  // By endpoint.
  size_t room = 1000;  // Writes that can be under way at once.
  std::vector<Write> writes;
  std::map<uint64_t, std::vector<FabricCompletion>>
      completions;  // By endpoint.
  size_t num_ended = 0;

  // Ends one of the writes.
  void EndOne() {
    if (writes.empty()) return;
    const size_t chosen = draws_() % writes.size();
    const Write write = writes[chosen];
    writes.erase(writes.begin() + static_cast<std::ptrdiff_t>(chosen));
    const absl::Span<char> to =
        memory[write.target].subspan(write.at, write.bytes.size());
    ASSERT_EQ(to.size(), write.bytes.size());
    std::copy(write.bytes.begin(), write.bytes.end(), to.begin());
    completions[write.target].push_back(
        {.kind = FabricCompletion::Kind::kNotice, .notice = write.notice});
    completions[write.source].push_back(
        {.kind = FabricCompletion::Kind::kWritten, .ticket = write.ticket});
    ++num_ended;
  }

 private:
  std::mt19937 draws_{1};
};

class FakeEndpoint final : public FabricEndpoint {
 public:
  FakeEndpoint(FakeNetwork& network, uint64_t id, std::string provider)
      : network_(network), id_(id), provider_(std::move(provider)) {}

  FabricName name() const override { return {provider_, "device0"}; }
  std::string address() const override { return std::to_string(id_); }
  absl::StatusOr<RemoteMemory> Register(absl::Span<char> memory) override {
    network_.memory[id_] = memory;
    return RemoteMemory{.address = 0, .key = 7};
  }
  absl::StatusOr<FabricPeer> AddPeer(std::string_view address) override {
    if (address.size() != 1) return absl::InvalidArgumentError("no address");
    return static_cast<FabricPeer>(address.front() - '0');
  }
  absl::StatusOr<bool> Write(const FabricWrite& write,
                             WriteTicket* ticket) override {
    EXPECT_EQ(write.target.key, 7u);
    if (network_.writes.size() >= network_.room) return false;
    std::string bytes(write.first);
    bytes += write.second;
    network_.writes.push_back({.source = id_,
                               .target = static_cast<uint64_t>(write.peer),
                               .at = write.target.address,
                               .bytes = std::move(bytes),
                               .notice = write.notice,
                               .ticket = ticket});
    return true;
  }
  absl::Status Poll(std::vector<FabricCompletion>* completions) override {
    network_.EndOne();
    for (const FabricCompletion& each :
         std::exchange(network_.completions[id_], {})) {
      completions->push_back(each);
    }
    return absl::OkStatus();
  }
  int descriptor() const override { return -1; }
  bool MayWait() override { return false; }

 private:
  FakeNetwork& network_;
  const uint64_t id_;
  const std::string provider_;
};

constexpr ConnectionKey kKey{RankId(0), RankId(1), 5};

class RdmaConnectionsTest : public ::testing::Test {
 protected:
  // One end of the connection kKey: the sender, or the receiver.
  std::unique_ptr<DataConnections> Open(const ConnectionPlan& plan,
                                        const std::string& provider) {
    return ValueOrDie(RdmaConnections::Create(
        plan, poller_, uint64_t{plan.rank.index()} * 100,
        std::make_unique<FakeEndpoint>(network_, plan.rank.index(), provider)));
  }

  // A socket of the poller, which a Doorway would have given.
  Socket Watched(int descriptor) {
    Socket socket(descriptor);
    poller_.Add(socket, 1000, {.reads = true});
    return socket;
  }

  void Connect(const std::string& provider = "verbs") {
    sender_ = Open(of_sender_, "verbs");
    receiver_ = Open(of_receiver_, provider);
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()),
              0);
    sender_->Take(kKey, Watched(ends[0]));
    receiver_->Take(kKey, Watched(ends[1]));
    PollSockets();
  }

  void PollSockets() {
    const Instant soon = HostClock::now() + std::chrono::milliseconds(10);
    for (const Ready& ready : poller_.Wait(soon)) {
      (sender_ && sender_->Owns(ready.token) ? sender_ : receiver_)
          ->OnReady(ready);
    }
  }

  // Lets the writes end. Admits what is announced, if `admits`.
  void Run(bool admits) {
    for (int idle = 0; idle < 3; ++idle) {
      for (DataConnections* each : {sender_.get(), receiver_.get()}) {
        ASSERT_TRUE(each->Progress(Instant()).ok());
      }
      if (!network_.writes.empty()) idle = 0;
      while (sender_->has_events() || receiver_->has_events()) {
        idle = 0;
        for (const DataEvent& event : sender_->TakeEvents()) {
          ASSERT_EQ(event.kind, DataEvent::Kind::kSent);
          ASSERT_EQ(event.peer, RankId(1));
          sent_.push_back(event.frame);
        }
        for (const DataEvent& event : receiver_->TakeEvents()) {
          const bool is_new = event.kind == DataEvent::Kind::kAnnounced;
          (is_new ? announced_ : arrived_).push_back(event.frame);
          if (is_new && admits) receiver_->Admit(event.connection);
        }
      }
    }
  }

  static DataFrame FrameOf(uint32_t number, int64_t bytes) {
    return {.iteration = 1,
            .communicator = 2,
            .number = number,
            .flow = FlowId(number),
            .bytes = Bytes(bytes)};
  }

  FakeNetwork network_;
  Poller poller_;
  const ConnectionPlan of_sender_{RankId(0), {kKey}, {}};
  const ConnectionPlan of_receiver_{RankId(1), {}, {kKey}};
  std::unique_ptr<DataConnections> sender_;
  std::unique_ptr<DataConnections> receiver_;
  std::vector<DataFrame> sent_;
  std::vector<DataFrame> announced_;
  std::vector<DataFrame> arrived_;
};

// Sizes around those of a slot, of which a frame takes 32 bytes.
std::vector<DataFrame> Frames() {
  constexpr int64_t kSlot = RdmaMemory::kLargestSlot;
  constexpr int64_t kFirst = kSlot - 32;
  std::vector<DataFrame> frames;
  for (const int64_t bytes :
       {int64_t{0}, int64_t{1}, kFirst - 1, kFirst, kFirst + 1, kSlot,
        kFirst + 20 * kSlot, int64_t{0}, int64_t{7}}) {
    frames.push_back({.iteration = 1,
                      .communicator = 2,
                      .number = static_cast<uint32_t>(frames.size()),
                      .flow = FlowId(3),
                      .bytes = Bytes(bytes)});
  }
  return frames;
}
// Slots that these messages take: 1 for each that is not larger than a slot.
constexpr size_t kSlotsOfFrames = 1 + 1 + 1 + 1 + 2 + 2 + 21 + 1 + 1;

TEST_F(RdmaConnectionsTest, MessagesArriveInOrderWhateverTheOrderOfWrites) {
  Connect();
  ASSERT_TRUE(sender_->MissingPeers().empty());
  ASSERT_TRUE(receiver_->MissingPeers().empty());
  for (const DataFrame& frame : Frames()) sender_->Send(0, frame);
  Run(/*admits=*/true);
  EXPECT_THAT(announced_, ElementsAreArray(Frames()));
  EXPECT_THAT(arrived_, ElementsAreArray(Frames()));
  EXPECT_EQ(sent_.size(), Frames().size());
  // Each slot is written once, and so is its credit.
  EXPECT_EQ(network_.num_ended, 2 * kSlotsOfFrames);
}

TEST_F(RdmaConnectionsTest, WritesThatFindNoRoomAreTriedAgain) {
  Connect();
  network_.room = 1;
  for (const DataFrame& frame : Frames()) sender_->Send(0, frame);
  Run(/*admits=*/true);
  EXPECT_THAT(arrived_, ElementsAreArray(Frames()));
  EXPECT_EQ(network_.num_ended, 2 * kSlotsOfFrames);
}

TEST_F(RdmaConnectionsTest, AMessageThatIsNotAdmittedFillsItsSlotsAndWaits) {
  Connect();
  const DataFrame frame = FrameOf(0, int64_t{1} << 24);
  sender_->Send(0, frame);
  Run(/*admits=*/false);
  EXPECT_THAT(announced_, ElementsAreArray({frame}));
  EXPECT_EQ(network_.num_ended, RdmaMemory::kSlots);
  EXPECT_TRUE(sent_.empty());
  receiver_->Admit(0);
  Run(/*admits=*/false);
  EXPECT_THAT(arrived_, ElementsAreArray({frame}));
  EXPECT_THAT(sent_, ElementsAreArray({frame}));
}

TEST_F(RdmaConnectionsTest, ASmallMessageIsSentBeforeItIsAdmitted) {
  Connect();
  sender_->Send(0, FrameOf(0, 100));
  Run(/*admits=*/false);
  EXPECT_EQ(sent_.size(), 1u);
  EXPECT_TRUE(arrived_.empty());
}

TEST_F(RdmaConnectionsTest, TheEndOfTheSocketIsTheEndOfTheConnection) {
  Connect();
  sender_.reset();
  PollSockets();
  const std::vector<DataEvent> events = receiver_->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, DataEvent::Kind::kLost);
  EXPECT_EQ(events[0].peer, RankId(0));
}

TEST_F(RdmaConnectionsTest, NoticesThatNoRankSendsAreErrors) {
  const auto error_of = [this](const std::vector<uint32_t>& notices) {
    Connect();
    for (const uint32_t notice : notices) {
      network_.completions[1].push_back(
          {.kind = FabricCompletion::Kind::kNotice, .notice = notice});
    }
    return receiver_->Progress(Instant()).status();
  };
  const absl::Status wrong = absl::InternalError(
      "a process writes to this rank what no rank of this run would");
  EXPECT_EQ(error_of({8}), wrong);                  // There is one connection.
  EXPECT_EQ(error_of({3, 3}), wrong);               // The slot is full.
  EXPECT_EQ(error_of({uint32_t{1} << 31}), wrong);  // It sends to nobody.
  // Nobody has written a frame.
  EXPECT_EQ(error_of({0}), absl::OkStatus());
  EXPECT_EQ(receiver_->TakeEvents().at(0).kind, DataEvent::Kind::kWrong);
}

TEST_F(RdmaConnectionsTest, RanksOfDifferentProvidersAreNamed) {
  Connect("efa");
  EXPECT_EQ(receiver_->Progress(Instant()).status(),
            absl::InternalError(
                "the greeting of rank 0: it sends over libfabric's provider "
                "verbs, and this rank over efa: name one for all ranks with "
                "--provider"));
  EXPECT_FALSE(receiver_->MissingPeers().empty());
}

TEST_F(RdmaConnectionsTest, WhatIsNoGreetingIsAnError) {
  const auto error_of = [this](const std::string& bytes) {
    receiver_ = Open(of_receiver_, "verbs");
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()),
              0);
    const Socket other(ends[0]);
    receiver_->Take(kKey, Watched(ends[1]));
    EXPECT_EQ(send(other.descriptor(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    PollSockets();
    return std::string(receiver_->Progress(Instant()).status().message());
  };
  EXPECT_EQ(error_of(std::string("\xff\xff\0\0", 4)),
            "the greeting of rank 0: a greeting of 65535 bytes is too long");
  EXPECT_EQ(error_of(std::string("\3\0\0\0abc", 7)),
            "the greeting of rank 0: a message is shorter than it says");
  RdmaGreeting greeting{.provider = "verbs",
                        .address = "0",
                        .memory = {},
                        .slot_bytes = 4096,  // A sender has none.
                        .first_notice = 0};
  EXPECT_EQ(error_of(Encode(greeting)),
            "the greeting of rank 0: it has slots of 4096 bytes");
  greeting.slot_bytes = 0;
  greeting.address = "0.0";
  EXPECT_EQ(error_of(Encode(greeting)), "the greeting of rank 0: no address");
}

TEST(RdmaGreetingTest, ReadsWhatItWritesAndNoPartOfIt) {
  const RdmaGreeting greeting{
      .provider = "verbs;ofi_rxm",
      .address = std::string("\2\0a", 3),
      .memory = {.address = 1, .key = uint64_t{1} << 60},
      .slot_bytes = 4096,
      .first_notice = 24};
  const std::string bytes = Encode(greeting);
  EXPECT_EQ(ValueOrDie(ParseGreetingLength(bytes.substr(0, 4))),
            bytes.size() - 4);
  const RdmaGreeting read = ValueOrDie(ParseRdmaGreeting(bytes.substr(4)));
  EXPECT_EQ(read.provider, greeting.provider);
  EXPECT_EQ(read.address, greeting.address);
  EXPECT_EQ(read.memory.key, greeting.memory.key);
  EXPECT_EQ(Encode(read), bytes);
  for (size_t size = 4; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseRdmaGreeting(bytes.substr(4, size - 4)).ok()) << size;
  }
  std::string other = bytes.substr(4);
  other.front() = 'x';
  EXPECT_EQ(
      ParseRdmaGreeting(other).status(),
      absl::InvalidArgumentError("what arrived is no greeting of a rank"));
}

TEST(RdmaMemoryTest, SlotsAreSmallerWhereThereAreManyConnections) {
  EXPECT_EQ(RdmaMemory(1, 1).slot_bytes(), 131072u);
  // 256 connections have 8 slots of 128 KiB in 256 MiB; 257 need smaller ones.
  EXPECT_EQ(RdmaMemory(256, 0).slot_bytes(), 131072u);
  EXPECT_EQ(RdmaMemory(257, 0).slot_bytes(), 65536u);
  EXPECT_EQ(RdmaMemory(10'000, 0).slot_bytes(), 4096u);
  RdmaMemory memory(2, 3);
  EXPECT_EQ(memory.SlotAt(1, 7), 15 * 131072u);
  EXPECT_EQ(memory.HeaderAt(0, 0), 16 * 131072u);
  EXPECT_EQ(memory.credit_at(), 16 * 131072u + 24 * 32);
  EXPECT_EQ(memory.all().size(), 16 * 131072u + 24 * 32 + 8 + 131072);
}

}  // namespace
}  // namespace astra::testing
