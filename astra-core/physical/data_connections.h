// The connections over which a rank sends messages to other ranks and receives
// theirs. Each connection carries messages in one direction, one after the
// other. There is one implementation for each network: TcpConnections and
// RdmaConnections.
//
// The bytes of a message have no meaning, so no message is stored: a sender
// repeats the same random bytes, and a receiver drops what arrives. A receiver
// takes the bytes of a message only once Admit() is called, as a receiver of
// NCCL has to post a buffer first. Until then they fill bounded buffers, and
// the sender waits.
//
// A connection begins as a TCP connection whose two ends have proved that they
// have the secret of the run. It stays open, and its end is the end of the
// connection.

#ifndef ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_
#define ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/connection_plan.h"
#include "astra-core/physical/data_frame.h"

namespace astra {

// Something that has happened to a message, or to a connection.
struct DataEvent {
  enum class Kind : uint8_t {
    kAnnounced,  // The frame has arrived; Admit() lets the bytes follow.
    kArrived,    // All bytes have arrived.
    kSent,       // The network has taken all bytes from this rank.
    kLost,       // The connection has ended.
    kWrong,      // The other end has sent something that is no frame.
  };
  Kind kind = Kind::kLost;
  size_t connection = 0;  // Index into the plan's `outgoing` or `incoming`.
  DataFrame frame;        // Frame of the message; unset for kLost and kWrong.
  RankId peer;            // Rank at the other end.
};

class DataConnections {
 public:
  virtual ~DataConnections() = default;

  // Returns provider and device of the network; both "" for TCP sockets.
  virtual FabricName network() const = 0;

  // Takes the socket of `key` from a Doorway of the same poller, and closes it
  // if the plan does not have the key or if its connection is there already.
  virtual void Take(const ConnectionKey& key, Socket socket) = 0;
  // Returns the keys of outgoing connections that nobody has begun.
  virtual std::vector<ConnectionKey> MissingOutgoing() const = 0;
  // Returns the ranks to or from which a connection is not ready, each once.
  virtual std::vector<RankId> MissingPeers() const = 0;

  // Sends a message after all messages that wait on the same connection, whose
  // index in the plan's `outgoing` is `outgoing`.
  virtual void Send(size_t outgoing, const DataFrame& frame) = 0;
  // Begins to take the bytes of the message that this connection has announced.
  virtual void Admit(size_t incoming) = 0;

  // Moves what needs no socket of the poller. Returns until when the caller may
  // wait for the poller: `until`, or an earlier instant.
  //
  // Errors: Unavailable if the network fails; Internal if another process does
  // what no rank of this run would.
  virtual absl::StatusOr<Instant> Progress(Instant until) = 0;
  // Returns whether `token` names a socket of these connections.
  virtual bool Owns(uint64_t token) const = 0;
  // Handles an event of the poller. Requires Owns(ready.token).
  virtual void OnReady(const Ready& ready) = 0;

  // Moves out the events since the last call, in order.
  virtual std::vector<DataEvent> TakeEvents() = 0;
  virtual bool has_events() const = 0;
};

// Opens the network of a rank, whose connections get tokens of the poller from
// `first_token` on. Plan and poller must outlive the result.
using OpenConnections =
    std::function<absl::StatusOr<std::unique_ptr<DataConnections>>(
        const ConnectionPlan&, Poller&, uint64_t first_token)>;

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_DATA_CONNECTIONS_H_
