// The connections over which a rank sends messages to others and receives
// theirs. Each carries messages of one direction, one after the other.
//
// The bytes of a message mean nothing, so none is kept: memory does not grow
// with messages. A receiver takes a message's bytes only once it is told to, as
// a receiver of NCCL has to post a buffer first; until then they wait in the
// kernels of both hosts, and then at the sender.

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
    kAnnounced,  // Its frame is here; Admit() lets its bytes follow.
    kArrived,    // All its bytes are.
    kSent,       // All its bytes are in the kernel of this host.
    kLost,       // The connection has ended.
    kWrong,      // What arrived is no frame; the other end is at fault.
  };
  struct Event {
    EventKind kind = EventKind::kLost;
    size_t connection = 0;  // Index of outgoing() or incoming().
    DataFrame frame;        // But for kLost and kWrong.
    RankId peer;            // The rank at the other end.
  };

  // Connections get tokens from `first_token` on. `plan` and `poller` must
  // outlive the object.
  DataConnections(const RankPlan& plan, Poller& poller, uint64_t first_token);

  // Takes a socket that has entered, for a key of the plan; the poller has it
  // under another token. Returns false if there is one for the key already, or
  // if the plan has no such key.
  bool Take(const ConnectionKey& key, Socket socket);

  // Whether each key of the plan has its socket.
  bool is_complete() const;
  // Returns the keys of outgoing connections that have no socket.
  std::vector<ConnectionKey> MissingOutgoing() const;
  // Returns the ranks whose connections are missing, each once.
  std::vector<RankId> MissingPeers() const;

  // Returns the index of an outgoing connection of the plan.
  size_t IndexOf(const ConnectionKey& key) const;

  // Sends a message behind those that the connection still has.
  void Send(size_t outgoing, const DataFrame& frame);

  // Lets the bytes of the message that was announced on this connection follow.
  void Admit(size_t incoming);

  // Whether `token` is one of these connections.
  bool Owns(uint64_t token) const {
    return token >= first_token_ &&
           token < first_token_ + outgoing_.size() + incoming_.size();
  }
  // Handles an event of the poller whose token is of these connections.
  void OnReady(const Ready& ready);

  // Moves out what has happened, in order.
  std::vector<Event> TakeEvents() { return std::exchange(events_, {}); }
  bool has_events() const { return !events_.empty(); }

 private:
  struct Outgoing {
    Socket socket;
    std::deque<DataFrame> frames;
    std::string header;   // Of the first frame, what is left of it.
    int64_t left = 0;     // Bytes of the first message that are not sent.
    bool awaits = false;  // The poller waits until it can be written to.
  };
  struct Incoming {
    Socket socket;
    std::string header;
    DataFrame frame;
    int64_t left = 0;
    bool is_admitted = false;
    bool is_announced = false;
    bool is_watched = true;  // The poller waits until it can be read.
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
  const std::string payload_;  // What messages consist of.
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<Event> events_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_
