// TCP sockets that never block, and the addresses they connect.

#ifndef ASTRA_CORE_HOSTS_SOCKET_H_
#define ASTRA_CORE_HOSTS_SOCKET_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// A host, by name or address, and a port.
struct Endpoint {
  std::string host;
  uint16_t port = 0;

  // Returns "node1:29411". A host with colons, as of IPv6, is put in brackets.
  std::string ToString() const;
};

// Reads "HOST", "HOST:PORT" or "[ADDRESS]:PORT". `port` is used if the text has
// none.
//
// Errors: InvalidArgument "SOURCE is ...: expected ...".
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view source,
                                       std::string_view text, uint16_t port);

// Owns a socket, and closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { Close(); }
  Socket(Socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  void Close();

 private:
  int descriptor_ = -1;
};

// Listens on the address of `endpoint`, or on all addresses of this host, of
// IPv4 and IPv6, if its host is "". With port 0 the kernel chooses a port.
//
// Errors: Unavailable, which names the endpoint and the reason.
absl::StatusOr<Socket> Listen(const Endpoint& endpoint);

// Returns the port on which a socket listens.
uint16_t PortOf(const Socket& socket);

// Returns the address of the other end, without its port. An address of IPv4 is
// written as one, also where the socket is of IPv6.
std::string PeerOf(const Socket& socket);

// Accepts a connection; returns none if no connection waits.
//
// Errors: ResourceExhausted if the process or the host can have no more
// sockets. The connection still waits then, and `listener` stays readable.
absl::StatusOr<std::optional<Socket>> AcceptFrom(const Socket& listener);

// Ends the connection once the other end has left what was sent unanswered for
// `limit`. This is only for connections whose other end always reads: the time
// in which a receiver has no room counts as well.
void LimitSilence(const Socket& socket, std::chrono::milliseconds limit);

// Lets this process have as many sockets as the host allows it (ulimit -Hn).
void RaiseSocketLimit();

// Begins to connect. Once the socket can be written, ConnectResult() returns
// whether the connection was made.
//
// Errors: Unavailable, which names the endpoint and the reason.
absl::StatusOr<Socket> StartConnect(const Endpoint& endpoint);
absl::Status ConnectResult(const Socket& socket);

// Appends at most `num_bytes` bytes that have arrived to `bytes`. Returns their
// number, which is 0 if nothing has arrived.
//
// Errors, also below: Unavailable if the connection has ended or broken.
absl::StatusOr<size_t> ReadInto(const Socket& socket, size_t num_bytes,
                                std::string* bytes);

// Drops at most `num_bytes` bytes that have arrived. Returns their number.
absl::StatusOr<size_t> Discard(const Socket& socket, size_t num_bytes);

// Writes `first` and then `second`, as far as the socket has room. Returns the
// number of bytes written.
absl::StatusOr<size_t> Write(const Socket& socket, std::string_view first,
                             std::string_view second = {});

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_SOCKET_H_
