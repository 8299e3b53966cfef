// Messages with a length in front, both ways over one connection.

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
  // A longer message is an error of the other end.
  static constexpr size_t kLongestMessage = size_t{256} << 20;

  // Takes a connection that has entered through a Doorway of `poller`, which
  // must outlive the object. The poller names the link `token` from now on.
  MessageLink(Socket socket, Poller& poller, uint64_t token);

  const Socket& socket() const { return socket_; }
  bool is_open() const { return socket_.is_open(); }
  void Close() { socket_.Close(); }

  // Writes what fits and keeps the rest for OnReady(). A link that has broken
  // tells so at the next OnReady().
  void Send(std::string_view message);

  // Reads and writes what it can, and appends the messages that have arrived,
  // also those before an error.
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
