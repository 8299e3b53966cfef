// Makes and accepts connections, and carries out their handshakes. Many
// handshakes are under way at once; none may take longer than a few seconds.
//
// Usage, with the events of the poller:
//   doorway.Open(std::move(listener));
//   for (const Ready& ready : poller.Wait(until)) doorway.OnReady(ready);
//   for (Entered& entered : doorway.TakeEntered()) ...

#ifndef ASTRA_CORE_HOSTS_DOORWAY_H_
#define ASTRA_CORE_HOSTS_DOORWAY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/hosts/handshake.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/hosts/socket.h"

namespace astra {

// A connection whose two ends have proved that they have the same secret. The
// poller names its socket `token`.
struct Entered {
  uint64_t token = 0;
  Socket socket;
  std::string claim;      // Claim of the end that connected.
  bool connects = false;  // True if this end connected.
};

// A connection that has failed, or whose handshake has. It is closed.
struct Refused {
  uint64_t token = 0;
  bool connects = false;  // True if this end wanted to connect.
  std::string peer;       // Address of the other end.
  absl::Status why;       // PermissionDenied: the other end has another secret.
};

class Doorway {
 public:
  // Time that a handshake may take; a connection that needs longer is closed.
  static constexpr std::chrono::seconds kPatience{5};
  // Number of connections that may be in their handshakes at once. Connections
  // that come in addition are closed.
  static constexpr size_t kMostAtOnce = 1024;

  // The listener gets the token `first_token`, and connections get the tokens
  // after it. `secret` and `poller` must outlive the object.
  Doorway(const Secret& secret, Poller& poller, uint64_t first_token);

  // Accepts connections from `listener` from now on.
  void Open(Socket listener);

  // Begins to connect, with `claim` for the other end. Returns the token of the
  // connection, which TakeEntered() or TakeRefused() has later.
  //
  // Errors: those of StartConnect().
  absl::StatusOr<uint64_t> Connect(const Endpoint& endpoint, std::string claim);

  // Handles an event of the listener or of a connection in its handshake. It
  // ignores other tokens.
  void OnReady(const Ready& ready);

  // Closes connections whose handshakes take too long, and listens again after
  // sockets had run out. Call this once a second or more often.
  void CloseLate();

  // Ends listening, and closes all connections that have not been taken.
  void Close();

  std::vector<Entered> TakeEntered() { return std::exchange(entered_, {}); }
  std::vector<Refused> TakeRefused() { return std::exchange(refused_, {}); }

 private:
  struct Guest {
    Socket socket;
    Handshake handshake;
    bool connects = false;      // This end connects, and the other accepts.
    bool is_connected = false;  // TCP has made the connection.
    std::string unsent;         // Bytes of the handshake that wait for room.
    std::string peer;           // Address of the other end.
    Instant deadline;           // When the handshake has taken too long.
  };

  uint64_t Admit(Guest guest);
  void Accept();
  void Pause(const absl::Status& why);
  absl::Status GoOn(Guest& guest, uint64_t token, const Ready& ready);
  void Refuse(uint64_t token, absl::Status why);

  const Secret& secret_;
  Poller& poller_;
  const uint64_t listener_token_;
  uint64_t next_token_;
  Socket listener_;
  std::optional<Instant> resumes_;    // Set while the listener is not watched.
  std::map<uint64_t, Guest> guests_;  // By token.
  std::vector<Entered> entered_;
  std::vector<Refused> refused_;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_DOORWAY_H_
