#include "astra-core/physical/tcp_connections.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/secret.h"

namespace astra {
namespace {

// Most bytes that one connection moves before others have their turn.
constexpr size_t kTurnBytes = size_t{1} << 20;

}  // namespace

// The payload is random so that nothing on the way can compress it.
TcpConnections::TcpConnections(const ConnectionPlan& plan, Poller& poller,
                               uint64_t first_token)
    : payload_(RandomBytes(kTurnBytes)),
      sockets_(plan, poller, first_token),
      outgoing_(plan.outgoing.size()),
      incoming_(plan.incoming.size()) {}

void TcpConnections::Take(const ConnectionKey& key, Socket socket) {
  sockets_.Take(key, std::move(socket));
}

std::vector<ConnectionKey> TcpConnections::MissingOutgoing() const {
  return sockets_.MissingOutgoing();
}

std::vector<RankId> TcpConnections::MissingPeers() const {
  return sockets_.PeersWithout(
      [this](ConnectionPlace place) { return sockets_.At(place).is_open(); });
}

void TcpConnections::Report(DataEvent::Kind kind, ConnectionPlace place,
                            const DataFrame& frame) {
  events_.push_back({.kind = kind,
                     .connection = place.index,
                     .frame = frame,
                     .peer = sockets_.PeerOf(place)});
}

void TcpConnections::Lose(ConnectionPlace place, DataEvent::Kind why) {
  sockets_.Close(place);
  Report(why, place, {});
}

void TcpConnections::Begin(Outgoing& connection) {
  const DataFrame& frame = connection.frames.front();
  connection.header = Encode(frame);
  connection.left = frame.bytes.count();
}

void TcpConnections::Send(size_t outgoing, const DataFrame& frame) {
  Outgoing& connection = outgoing_[outgoing];
  connection.frames.push_back(frame);
  if (connection.frames.size() > 1) return;
  Begin(connection);
  if (!connection.awaits) WriteSome(outgoing);
}

// Writes a part of the first message. Sets `is_full` if no more fits now.
absl::Status TcpConnections::WriteFirst(size_t index, size_t budget,
                                        bool* is_full) {
  Outgoing& connection = outgoing_[index];
  const size_t part = static_cast<size_t>(
      std::min<int64_t>({connection.left, static_cast<int64_t>(budget),
                         static_cast<int64_t>(payload_.size())}));
  ASTRA_ASSIGN_OR_RETURN(const size_t sent,
                         Write(sockets_.At(Out(index)), connection.header,
                               std::string_view(payload_).substr(0, part)));
  const size_t of_header = std::min(sent, connection.header.size());
  *is_full = sent < connection.header.size() + part;
  connection.header.erase(0, of_header);
  connection.left -= static_cast<int64_t>(sent - of_header);
  return absl::OkStatus();
}

void TcpConnections::WriteSome(size_t index) {
  Outgoing& connection = outgoing_[index];
  bool is_full = false;
  size_t turn = 0;
  while (!is_full && !connection.frames.empty() && turn < kTurnBytes) {
    const int64_t before = connection.left;
    if (!WriteFirst(index, kTurnBytes - turn, &is_full).ok()) {
      Lose(Out(index), DataEvent::Kind::kLost);
      return;
    }
    turn += static_cast<size_t>(before - connection.left) + 1;
    if (connection.left > 0 || !connection.header.empty()) continue;
    Report(DataEvent::Kind::kSent, Out(index), connection.frames.front());
    connection.frames.pop_front();
    if (!connection.frames.empty()) Begin(connection);
  }
  const bool awaits = !connection.frames.empty();
  if (awaits == connection.awaits) return;
  connection.awaits = awaits;
  sockets_.Watch(Out(index), {.reads = true, .writes = awaits});
}

void TcpConnections::Admit(size_t incoming) {
  Incoming& connection = incoming_[incoming];
  connection.is_admitted = true;
  ReadSome(incoming);
  if (sockets_.At(In(incoming)).is_open()) Watch(incoming, true);
}

void TcpConnections::Watch(size_t index, bool is_watched) {
  Incoming& connection = incoming_[index];
  if (connection.is_watched == is_watched) return;
  connection.is_watched = is_watched;
  sockets_.Watch(In(index), {.reads = is_watched});
}

// Reads a part of a frame, and announces the frame once it is whole.
absl::Status TcpConnections::ReadHeader(size_t index, bool* has_all) {
  Incoming& connection = incoming_[index];
  ASTRA_RETURN_IF_ERROR(ReadInto(sockets_.At(In(index)),
                                 DataFrame::kBytes - connection.header.size(),
                                 &connection.header)
                            .status());
  *has_all = connection.header.size() == DataFrame::kBytes;
  if (!*has_all) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(connection.frame, ParseDataFrame(connection.header));
  connection.left = connection.frame.bytes.count();
  connection.is_announced = true;
  connection.is_admitted = false;
  Report(DataEvent::Kind::kAnnounced, In(index), connection.frame);
  return absl::OkStatus();
}

void TcpConnections::ReadSome(size_t index) {
  Incoming& connection = incoming_[index];
  if (!connection.is_announced) {
    bool has_all = false;
    if (absl::Status status = ReadHeader(index, &has_all); !status.ok()) {
      Lose(In(index), absl::IsInvalidArgument(status) ? DataEvent::Kind::kWrong
                                                      : DataEvent::Kind::kLost);
    }
    return;
  }
  if (!connection.is_admitted) {
    // The poller reports an unwatched connection only when it has broken.
    if (connection.is_watched) {
      Watch(index, false);
    } else {
      Lose(In(index), DataEvent::Kind::kLost);
    }
    return;
  }
  size_t turn = 0;
  while (connection.left > 0 && turn < kTurnBytes) {
    const absl::StatusOr<size_t> got = Discard(
        sockets_.At(In(index)),
        static_cast<size_t>(std::min<int64_t>(connection.left, kTurnBytes)));
    if (!got.ok()) {
      Lose(In(index), DataEvent::Kind::kLost);
      return;
    }
    if (*got == 0) return;
    connection.left -= static_cast<int64_t>(*got);
    turn += *got;
  }
  if (connection.left > 0) return;
  Report(DataEvent::Kind::kArrived, In(index), connection.frame);
  connection.header.clear();
  connection.is_announced = false;
}

void TcpConnections::OnReady(const Ready& ready) {
  const ConnectionPlace place = sockets_.PlaceOf(ready.token);
  const Socket& socket = sockets_.At(place);
  if (!socket.is_open()) return;
  if (!place.is_outgoing) {
    ReadSome(place.index);
    return;
  }
  if (ready.can_write && outgoing_[place.index].awaits) WriteSome(place.index);
  if (!ready.can_read || !socket.is_open()) return;
  // A receiver sends nothing, so the connection has ended.
  const absl::StatusOr<size_t> got = Discard(socket, kTurnBytes);
  if (!got.ok() || *got > 0) Lose(place, DataEvent::Kind::kLost);
}

}  // namespace astra
