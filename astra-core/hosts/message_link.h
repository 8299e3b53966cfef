// Sends and receives messages over one connection. Each message has its length
// in front, as 32 bits.

#ifndef ASTRA_CORE_HOSTS_MESSAGE_LINK_H_
#define ASTRA_CORE_HOSTS_MESSAGE_LINK_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/hosts/poller.h"
#include "astra-core/hosts/socket.h"

namespace astra {

class MessageLink {
 public:
  // Largest length of a message in bytes; a longer one is an error.
  static constexpr size_t kLongestMessage = size_t{256} << 20;

  // Takes a connection that has entered through a Doorway of `poller`, which
  // must outlive the object. The poller names the link `token` from now on.
  MessageLink(Socket socket, Poller& poller, uint64_t token);

  const Socket& socket() const { return socket_; }
  bool is_open() const { return socket_.is_open(); }
  void Close() { socket_.Close(); }

  // Writes as much as the socket has room for, and keeps the rest for
  // OnReady(). If the connection has broken, the next OnReady() returns the
  // error.
  void Send(std::string_view message);

  // Writes and reads what the socket can take and has. Appends the messages
  // that have arrived whole, also if an error follows them.
  //
  // Errors: Unavailable if the connection has ended; InvalidArgument for a
  // message that is too long.
  absl::Status OnReady(const Ready& ready, std::vector<std::string>* messages);

  bool has_unsent() const { return !unsent_.empty(); }

 private:
  void WriteSome();

  Socket socket_;
  Poller& poller_;
  uint64_t token_;
  std::string received_;
  std::string unsent_;
  bool awaits_writing_ = false;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_MESSAGE_LINK_H_
