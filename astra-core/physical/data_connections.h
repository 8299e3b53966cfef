// The connections over which a rank sends messages to other ranks and receives
// theirs. Each connection carries messages in one direction, one after the
// other.
//
// The bytes of a message have no meaning, so no message is stored: a sender
// repeats the same random bytes, and a receiver drops what arrives. A receiver
// takes the bytes of a message only once Admit() is called, as a receiver of
// NCCL has to post a buffer first. Until then they fill the socket buffers of
// both hosts, and the sender waits.
//
// Connections take turns: none moves more than 1 MiB before the others.

#ifndef ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_
#define ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/data_frame.h"
#include "astra-core/physical/rank_plan.h"

namespace astra {

class DataConnections {
 public:
  // Something that has happened to a message, or to a connection.
  enum class EventKind : uint8_t {
    kAnnounced,  // The frame has arrived; Admit() lets the bytes follow.
    kArrived,    // All bytes have arrived.
    kSent,       // The kernel of this host has taken all bytes.
    kLost,       // The connection has ended.
    kWrong,      // The other end has sent something that is no frame.
  };
  struct Event {
    EventKind kind = EventKind::kLost;
    size_t connection = 0;  // Index into the plan's outgoing() or incoming().
    DataFrame frame;        // Frame of the message; unset for kLost and kWrong.
    RankId peer;            // Rank at the other end.
  };

  // Connections get tokens from `first_token` on. `plan` and `poller` must
  // outlive the object.
  DataConnections(const RankPlan& plan, Poller& poller, uint64_t first_token);

  // Takes the socket of `key` from a Doorway of the same poller. Returns false,
  // and closes the socket, if the plan does not have the key, or if its
  // connection is there already.
  bool Take(const ConnectionKey& key, Socket socket);

  // Returns whether all connections of the plan are there.
  bool is_complete() const;
  // Returns the keys of outgoing connections that are missing.
  std::vector<ConnectionKey> MissingOutgoing() const;
  // Returns the ranks to or from which a connection is missing, each once.
  std::vector<RankId> MissingPeers() const;

  // Returns the index of an outgoing connection of the plan.
  size_t IndexOf(const ConnectionKey& key) const;

  // Sends a message after all messages that wait on the same connection.
  void Send(size_t outgoing, const DataFrame& frame);

  // Begins to take the bytes of the message that this connection has announced.
  void Admit(size_t incoming);

  // Returns whether `token` names one of these connections.
  bool Owns(uint64_t token) const {
    return token >= first_token_ &&
           token < first_token_ + outgoing_.size() + incoming_.size();
  }
  // Handles an event of the poller. Requires Owns(ready.token).
  void OnReady(const Ready& ready);

  // Moves out the events since the last call, in order.
  std::vector<Event> TakeEvents() { return std::exchange(events_, {}); }
  bool has_events() const { return !events_.empty(); }

 private:
  struct Outgoing {
    Socket socket;
    std::deque<DataFrame> frames;  // Messages to send; the first is under way.
    std::string header;            // Unsent rest of the first frame.
    int64_t left = 0;              // Unsent bytes of the first message.
    bool awaits = false;           // The poller waits for room in the socket.
  };
  struct Incoming {
    Socket socket;
    std::string header;         // Bytes of the next frame that have arrived.
    DataFrame frame;            // Frame of the announced message.
    int64_t left = 0;           // Bytes of the announced message to come.
    bool is_admitted = false;   // Admit() was called for this message.
    bool is_announced = false;  // The frame has arrived, but not all bytes.
    bool is_watched = true;     // The poller waits for bytes of the socket.
  };

  uint64_t TokenOfOutgoing(size_t index) const { return first_token_ + index; }
  uint64_t TokenOfIncoming(size_t index) const {
    return first_token_ + outgoing_.size() + index;
  }
  void Begin(Outgoing& connection);
  void WriteSome(size_t index);
  absl::Status WriteFirst(Outgoing& connection, size_t budget, bool* is_full);
  void ReadSome(size_t index);
  absl::Status ReadHeader(size_t index, bool* has_all);
  void Watch(size_t index, bool is_watched);
  void LoseOutgoing(size_t index);
  void LoseIncoming(size_t index, EventKind why);

  const RankPlan& plan_;
  Poller& poller_;
  const uint64_t first_token_;
  const std::string payload_;  // Random bytes that all messages consist of.
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<Event> events_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_
