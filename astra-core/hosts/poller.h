// Waits until sockets can be read or written, or an instant has come.

#ifndef ASTRA_CORE_HOSTS_POLLER_H_
#define ASTRA_CORE_HOSTS_POLLER_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/hosts/socket.h"

namespace astra {

using HostClock = std::chrono::steady_clock;
using Instant = HostClock::time_point;
// A time by the HostClock of some host, or the length of a time.
using HostTime = std::chrono::nanoseconds;

// What a poller waits for at a socket. It always waits for errors.
struct Interest {
  bool reads = false;
  bool writes = false;
};

// A socket that can be read or written without waiting. A connection that has
// broken counts as both, so that reading or writing tells the error.
struct Ready {
  uint64_t token = 0;
  bool can_read = false;
  bool can_write = false;
};

class Poller {
 public:
  Poller();

  // Adds a socket, which Wait() names `token`. Closing the socket removes it.
  void Add(const Socket& socket, uint64_t token, Interest interest);
  // Changes the token of a socket, and what is waited for.
  void Change(const Socket& socket, uint64_t token, Interest interest);

  // Waits until a socket is ready, or until the instant `until`, and returns
  // the sockets that are ready. A signal may end the wait sooner. The result is
  // valid until the next call.
  absl::Span<const Ready> Wait(Instant until);

 private:
  void SetTimer(Instant until);

  Socket poll_;  // Descriptor of epoll.
  // Descriptor of a timer, which is more exact than the milliseconds of epoll.
  Socket timer_;
  Instant timer_until_;  // Instant that the timer is set to.
  std::vector<Ready> ready_;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_POLLER_H_
