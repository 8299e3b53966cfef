#include "astra-core/hosts/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// IPv4 is what a name usually means on a cluster.
constexpr int kFamilies[] = {AF_INET, AF_INET6};

absl::Status Failed(std::string_view what, const Endpoint& endpoint,
                    std::string_view why) {
  return absl::UnavailableError(
      fmt::format("cannot {} {}: {}", what, endpoint.ToString(), why));
}

std::string LastError() { return std::strerror(errno); }

// Returns the addresses of a host; with AI_PASSIVE and the host "", the address
// that stands for all.
absl::StatusOr<Addresses> Resolve(std::string_view what,
                                  const Endpoint& endpoint, int flags,
                                  absl::Span<const int> families) {
  int error = 0;
  const char* host = endpoint.host.empty() ? nullptr : endpoint.host.c_str();
  for (const int family : families) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    error = getaddrinfo(host, std::to_string(endpoint.port).c_str(), &hints,
                        &found);
    if (error == 0) return Addresses(found, &freeaddrinfo);
  }
  return Failed(what, endpoint, gai_strerror(error));
}

Socket MakeSocket(const addrinfo& address) {
  return Socket(
      socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void SetFlag(const Socket& socket, int level, int option, bool is_on) {
  const int value = is_on ? 1 : 0;
  setsockopt(socket.descriptor(), level, option, &value, sizeof(value));
}

// A message may be smaller than a packet, and leaves at once. A peer whose host
// is gone is noticed after a minute as long as nothing is under way to it; see
// LimitSilence() for the rest.
void SetUp(const Socket& socket) {
  SetFlag(socket, IPPROTO_TCP, TCP_NODELAY, true);
  SetFlag(socket, SOL_SOCKET, SO_KEEPALIVE, true);
  constexpr std::pair<int, int> kValues[] = {
      {TCP_KEEPIDLE, 10}, {TCP_KEEPINTVL, 5}, {TCP_KEEPCNT, 10}};
  for (const auto& [option, value] : kValues) {
    setsockopt(socket.descriptor(), IPPROTO_TCP, option, &value, sizeof(value));
  }
}

bool WouldBlock() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

absl::Status HasEnded() {
  return absl::UnavailableError("the connection has ended");
}

absl::Status HasBroken() {
  return absl::UnavailableError(
      fmt::format("the connection has broken: {}", LastError()));
}

absl::StatusOr<Socket> ListenOn(const Endpoint& endpoint,
                                absl::Span<const int> families) {
  constexpr int kBacklog = 1024;
  ASTRA_ASSIGN_OR_RETURN(const Addresses addresses,
                         Resolve("listen on", endpoint, AI_PASSIVE, families));
  Socket socket = MakeSocket(*addresses);
  if (!socket.is_open()) return Failed("listen on", endpoint, LastError());
  SetFlag(socket, SOL_SOCKET, SO_REUSEADDR, true);
  SetFlag(socket, IPPROTO_IPV6, IPV6_V6ONLY, false);
  if (bind(socket.descriptor(), addresses->ai_addr, addresses->ai_addrlen) !=
          0 ||
      listen(socket.descriptor(), kBacklog) != 0) {
    return Failed("listen on", endpoint, LastError());
  }
  return socket;
}

}  // namespace

std::string Endpoint::ToString() const {
  return host.find(':') == std::string::npos
             ? fmt::format("{}:{}", host, port)
             : fmt::format("[{}]:{}", host, port);
}

absl::StatusOr<Endpoint> ParseEndpoint(std::string_view source,
                                       std::string_view text, uint16_t port) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        fmt::format("{} is {}: expected HOST or HOST:PORT, such as node1:29411",
                    source, Quoted(text)));
  };
  Endpoint endpoint{std::string(text), port};
  std::string_view number;
  const bool is_bracketed = !text.empty() && text.front() == '[';
  if (is_bracketed) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong();
    endpoint.host = std::string(text.substr(1, end - 1));
    number = text.substr(end + 1);
    if (!number.empty() && number.front() != ':') return wrong();
  } else if (text.find(':') == text.rfind(':')) {
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
      endpoint.host = std::string(text.substr(0, colon));
      number = text.substr(colon);
    }
  }
  if (endpoint.host.empty()) return wrong();
  if (!number.empty()) {
    const auto given = ParseInteger("", number.substr(1), 1, 65535);
    if (!given.ok()) return wrong();
    endpoint.port = static_cast<uint16_t>(*given);
  }
  return endpoint;
}

void Socket::Close() {
  if (is_open()) close(std::exchange(descriptor_, -1));
}

absl::StatusOr<Socket> Listen(const Endpoint& endpoint) {
  // A socket of IPv6 that listens on all addresses gets connections of IPv4 as
  // well, unless the kernel has no IPv6.
  if (endpoint.host.empty()) {
    constexpr int kIpv6[] = {AF_INET6};
    absl::StatusOr<Socket> socket = ListenOn(endpoint, kIpv6);
    if (socket.ok()) return socket;
  }
  return ListenOn(endpoint, kFamilies);
}

uint16_t PortOf(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address),
              &length);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string PeerOf(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  if (getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&address),
                  &length) != 0 ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), length,
                  host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  constexpr std::string_view kIpv4 = "::ffff:";
  const std::string text = host.data();
  const bool is_ipv4 =
      text.rfind(kIpv4, 0) == 0 && text.find('.') != std::string::npos;
  return is_ipv4 ? text.substr(kIpv4.size()) : text;
}

absl::StatusOr<std::optional<Socket>> AcceptFrom(const Socket& listener) {
  Socket socket(accept4(listener.descriptor(), nullptr, nullptr,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    SetUp(socket);
    return std::optional<Socket>(std::move(socket));
  }
  const bool is_exhausted =
      errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  if (is_exhausted) return absl::ResourceExhaustedError(LastError());
  return std::optional<Socket>();
}

void LimitSilence(const Socket& socket, std::chrono::milliseconds limit) {
  const int value = static_cast<int>(limit.count());
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &value,
             sizeof(value));
}

void RaiseSocketLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<Socket> StartConnect(const Endpoint& endpoint) {
  ASTRA_ASSIGN_OR_RETURN(const Addresses addresses,
                         Resolve("connect to", endpoint, 0, kFamilies));
  Socket socket = MakeSocket(*addresses);
  if (!socket.is_open()) return Failed("connect to", endpoint, LastError());
  SetUp(socket);
  if (connect(socket.descriptor(), addresses->ai_addr, addresses->ai_addrlen) !=
          0 &&
      errno != EINPROGRESS) {
    return Failed("connect to", endpoint, LastError());
  }
  return socket;
}

absl::Status ConnectResult(const Socket& socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? absl::OkStatus()
                    : absl::UnavailableError(std::strerror(error));
}

absl::StatusOr<size_t> ReadInto(const Socket& socket, size_t num_bytes,
                                std::string* bytes) {
  const size_t before = bytes->size();
  bytes->resize(before + num_bytes);
  const ssize_t got =
      recv(socket.descriptor(), bytes->data() + before, num_bytes, 0);
  bytes->resize(before + static_cast<size_t>(got > 0 ? got : 0));
  if (got > 0) return static_cast<size_t>(got);
  if (got == 0) return HasEnded();
  if (WouldBlock()) return 0;
  return HasBroken();
}

// With MSG_TRUNC the kernel drops the bytes of a TCP socket without copying
// them.
absl::StatusOr<size_t> Discard(const Socket& socket, size_t num_bytes) {
  const ssize_t got = recv(socket.descriptor(), nullptr, num_bytes, MSG_TRUNC);
  if (got > 0) return static_cast<size_t>(got);
  if (got == 0) return HasEnded();
  if (WouldBlock()) return 0;
  return HasBroken();
}

absl::StatusOr<size_t> Write(const Socket& socket, std::string_view first,
                             std::string_view second) {
  std::array<iovec, 2> parts = {
      iovec{const_cast<char*>(first.data()), first.size()},
      iovec{const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t sent = sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<size_t>(sent);
  if (WouldBlock()) return 0;
  return HasBroken();
}

}  // namespace astra
