// Sends messages between ranks over RDMA, or over what a provider of libfabric
// has in its place.
//
// clang-format off
//   sender      writes a frame and bytes into the next slot of the receiver,
//               with a notice that names the slot, as long as it has credit
//   receiver    takes a slot once it has admitted the message, and returns the
//               credit by a write of its own, with a notice that names the slot
// clang-format on
//
// So at most RdmaMemory::kSlots slots of a connection are filled, and the
// sender of a message that is not admitted waits, as one of NCCL does. A
// message takes as many slots as it needs. Slots are used in turn, and each has
// a notice of its own, so writes may arrive in any order.
//
// The ends of a connection tell each other where to write over the TCP
// connection between them, so that nobody without the secret learns it. Its end
// is the end of the connection.

#ifndef ASTRA_CORE_PHYSICAL_RDMA_CONNECTIONS_H_
#define ASTRA_CORE_PHYSICAL_RDMA_CONNECTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/connection_plan.h"
#include "astra-core/physical/data_connections.h"
#include "astra-core/physical/data_frame.h"
#include "astra-core/physical/rank_sockets.h"
#include "astra-core/physical/rdma_greeting.h"
#include "astra-core/physical/rdma_memory.h"

namespace astra {

class RdmaConnections final : public DataConnections {
 public:
  // See OpenConnections.
  //
  // Errors: those of FabricEndpoint::Register().
  static absl::StatusOr<std::unique_ptr<DataConnections>> Create(
      const ConnectionPlan& plan, Poller& poller, uint64_t first_token,
      std::unique_ptr<FabricEndpoint> endpoint);

  FabricName network() const override { return endpoint_->name(); }
  void Take(const ConnectionKey& key, Socket socket) override;
  std::vector<ConnectionKey> MissingOutgoing() const override;
  std::vector<RankId> MissingPeers() const override;
  void Send(size_t outgoing, const DataFrame& frame) override;
  void Admit(size_t incoming) override;
  absl::StatusOr<Instant> Progress(Instant until) override;
  bool Owns(uint64_t token) const override {
    return sockets_.Owns(token) || token == sockets_.end_token();
  }
  void OnReady(const Ready& ready) override;
  std::vector<DataEvent> TakeEvents() override {
    return std::exchange(events_, {});
  }
  bool has_events() const override { return !events_.empty(); }

 private:
  static constexpr uint32_t kSlots = RdmaMemory::kSlots;

  // A write of one slot, or of its credit.
  struct SlotWrite : WriteTicket {
    ConnectionPlace place;
    uint64_t message = 0;       // Number of the message that is written.
    bool is_under_way = false;  // It has begun and not ended.
  };
  // What is the same at both ends of a connection.
  struct End {
    std::string received;  // Bytes of the other end's greeting.
    RdmaGreeting other;    // That greeting, once it is whole.
    FabricPeer peer{};
    bool is_ready = false;    // The greeting has arrived.
    bool is_blocked = false;  // In blocked_.
    uint32_t next_slot = 0;   // The slot to fill or to take next.
    std::array<SlotWrite, kSlots> writes;
  };
  // A message that has not been sent wholly.
  struct Message {
    DataFrame frame;
    int64_t left = 0;            // Bytes whose writes have not begun.
    bool has_begun = false;      // The write of its frame has begun.
    uint32_t num_under_way = 0;  // Its writes that have begun and not ended.
    bool is_sent() const {
      return has_begun && left == 0 && num_under_way == 0;
    }
  };
  struct Outgoing : End {
    std::deque<Message> messages;
    uint64_t num_ended = 0;  // Messages that were removed from the front.
    uint64_t num_begun = 0;  // Messages whose writes have all begun.
    std::array<bool, kSlots> has_credit;  // The receiver has taken the slot.
  };
  struct Incoming : End {
    DataFrame frame;            // Frame of the announced message.
    int64_t left = 0;           // Bytes of the announced message to come.
    bool is_admitted = false;   // Admit() was called for this message.
    bool is_announced = false;  // The frame has arrived, but not all bytes.
    std::array<bool, kSlots> is_full{};      // The sender has filled the slot.
    std::array<bool, kSlots> owes_credit{};  // Its credit is to be returned.
  };

  RdmaConnections(const ConnectionPlan& plan, Poller& poller,
                  uint64_t first_token,
                  std::unique_ptr<FabricEndpoint> endpoint);
  absl::Status Open(Poller& poller);

  static ConnectionPlace Out(size_t index) { return {true, index}; }
  static ConnectionPlace In(size_t index) { return {false, index}; }
  End& EndOf(ConnectionPlace place);
  const End& EndOf(ConnectionPlace place) const;
  bool IsOpen(ConnectionPlace place) const {
    return sockets_.At(place).is_open();
  }

  RdmaGreeting GreetingOf(ConnectionPlace place) const;
  absl::Status ReadGreeting(ConnectionPlace place);
  absl::Status Greet(ConnectionPlace place, std::string_view bytes);

  void WriteSome(size_t outgoing);
  bool WriteSlot(size_t outgoing);
  void ReturnCredits(size_t incoming);
  bool WriteTo(ConnectionPlace place, uint32_t slot, FabricWrite write);
  void TakeSlots(size_t incoming);
  absl::Status Announce(size_t incoming);

  absl::Status Handle(const FabricCompletion& completion);
  absl::Status OnNotice(uint32_t notice);
  void OnWritten(SlotWrite& write);
  void Retry();

  void Report(DataEvent::Kind kind, ConnectionPlace place,
              const DataFrame& frame);
  void Lose(ConnectionPlace place, DataEvent::Kind why);

  RankSockets sockets_;
  RdmaMemory memory_;
  Socket queue_;        // Copy of the endpoint's descriptor, if it has one.
  RemoteMemory own_;    // Where memory_ begins for others.
  size_t num_waiting_;  // Connections that are not ready.
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<ConnectionPlace> blocked_;  // Connections with writes to retry.
  std::vector<FabricCompletion> completions_;  // Scratch.
  std::vector<DataEvent> events_;
  absl::Status failure_;  // Why no message can be sent any more.
  // The last member, since it is closed before what it writes from and to.
  std::unique_ptr<FabricEndpoint> endpoint_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RDMA_CONNECTIONS_H_
