#include "astra-core/hosts/poller.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <array>
#include <limits>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

constexpr uint64_t kTimer = std::numeric_limits<uint64_t>::max();

epoll_event EventOf(uint64_t token, Interest interest) {
  epoll_event event{};
  event.events = (interest.reads ? uint32_t{EPOLLIN} : 0) |
                 (interest.writes ? uint32_t{EPOLLOUT} : 0);
  event.data.u64 = token;
  return event;
}

}  // namespace

Poller::Poller()
    : poll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  ASTRA_CHECK(poll_.is_open() && timer_.is_open(),
              "the kernel gives no epoll or no timer");
  Add(timer_, kTimer, {.reads = true});
}

void Poller::Add(const Socket& socket, uint64_t token, Interest interest) {
  epoll_event event = EventOf(token, interest);
  const int result =
      epoll_ctl(poll_.descriptor(), EPOLL_CTL_ADD, socket.descriptor(), &event);
  ASTRA_CHECK(result == 0, "the kernel watches no more sockets: see {}",
              "/proc/sys/fs/epoll/max_user_watches");
}

void Poller::Change(const Socket& socket, uint64_t token, Interest interest) {
  epoll_event event = EventOf(token, interest);
  epoll_ctl(poll_.descriptor(), EPOLL_CTL_MOD, socket.descriptor(), &event);
}

// The clock of HostClock is CLOCK_MONOTONIC with libstdc++ on Linux.
void Poller::SetTimer(Instant until) {
  if (std::exchange(timer_until_, until) == until) return;
  const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         until.time_since_epoch())
                         .count();
  constexpr int64_t kSecond = 1'000'000'000;
  itimerspec time{};
  time.it_value.tv_sec = ns / kSecond;
  time.it_value.tv_nsec = ns % kSecond;
  timerfd_settime(timer_.descriptor(), TFD_TIMER_ABSTIME, &time, nullptr);
}

absl::Span<const Ready> Poller::Wait(Instant until) {
  ready_.clear();
  const bool is_over = until <= HostClock::now();
  if (!is_over) SetTimer(until);
  std::array<epoll_event, 256> events{};
  const int count =
      epoll_wait(poll_.descriptor(), events.data(),
                 static_cast<int>(events.size()), is_over ? 0 : -1);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.u64 == kTimer) continue;
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    ready_.push_back(
        {.token = event.data.u64,
         .can_read = is_broken || (event.events & EPOLLIN) != 0,
         .can_write = is_broken || (event.events & EPOLLOUT) != 0});
  }
  return ready_;
}

}  // namespace astra
