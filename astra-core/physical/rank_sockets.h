// The TCP sockets of a rank's connections, one for each that its plan has, and
// their tokens in a poller.

#ifndef ASTRA_CORE_PHYSICAL_RANK_SOCKETS_H_
#define ASTRA_CORE_PHYSICAL_RANK_SOCKETS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"
#include "astra-core/physical/connection_plan.h"

namespace astra {

// Names a connection of a rank by its position in the plan.
struct ConnectionPlace {
  bool is_outgoing = false;
  size_t index = 0;  // Index into the plan's `outgoing` or `incoming`.
};

class RankSockets {
 public:
  // `plan` and `poller` must outlive the object.
  RankSockets(const ConnectionPlan& plan, Poller& poller, uint64_t first_token);

  // Puts a socket in its place, and waits for bytes from it. Returns the place,
  // or none, and closes the socket, if there is no such place or it is taken.
  std::optional<ConnectionPlace> Take(const ConnectionKey& key, Socket socket);

  const Socket& At(ConnectionPlace place) const { return sockets_[Of(place)]; }
  void Close(ConnectionPlace place) { sockets_[Of(place)].Close(); }
  // Changes what the poller waits for.
  void Watch(ConnectionPlace place, Interest interest);

  const ConnectionKey& KeyOf(ConnectionPlace place) const;
  // Returns the rank at the other end.
  RankId PeerOf(ConnectionPlace place) const;

  bool Owns(uint64_t token) const {
    return token >= first_token_ && token < first_token_ + sockets_.size();
  }
  // Requires Owns(token).
  ConnectionPlace PlaceOf(uint64_t token) const;
  // Returns the first token that names no socket.
  uint64_t end_token() const { return first_token_ + sockets_.size(); }

  // Returns the keys of outgoing connections without a socket.
  std::vector<ConnectionKey> MissingOutgoing() const;
  // Returns the other ends of the connections that are not ready, each once.
  std::vector<RankId> PeersWithout(
      const std::function<bool(ConnectionPlace)>& is_ready) const;

 private:
  size_t Of(ConnectionPlace place) const {
    return place.is_outgoing ? place.index : num_outgoing_ + place.index;
  }
  ConnectionPlace PlaceAt(size_t position) const;

  const ConnectionPlan& plan_;
  Poller& poller_;
  const uint64_t first_token_;
  const size_t num_outgoing_;
  std::vector<Socket> sockets_;  // The outgoing ones first.
};

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_RANK_SOCKETS_H_
