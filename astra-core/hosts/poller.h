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
using HostTime = std::chrono::nanoseconds;  // By a host's clock, or a length.

// What a socket is waited for.
struct Interest {
  bool reads = false;
  bool writes = false;
};

// A socket that can go on. Errors and ends count as both.
struct Ready {
  uint64_t token = 0;
  bool can_read = false;
  bool can_write = false;
};

class Poller {
 public:
  Poller();

  // `token` is what Wait() returns for the socket. A socket leaves the poller
  // when it is closed.
  void Add(const Socket& socket, uint64_t token, Interest interest);
  void Change(const Socket& socket, uint64_t token, Interest interest);

  // Waits for the first socket that can go on, or for `until`. The result is
  // valid until the next call, and empty if there is none.
  absl::Span<const Ready> Wait(Instant until);

 private:
  void SetTimer(Instant until);

  Socket poll_;   // Of epoll.
  Socket timer_;  // Milliseconds, as epoll counts them, would be too coarse.
  Instant timer_until_;  // Instant that the timer is set to.
  std::vector<Ready> ready_;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_POLLER_H_
