#include "astra-core/physical/data_connections.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/secret.h"

namespace astra {
namespace {

// Most bytes that one connection moves before others have their turn.
constexpr size_t kTurnBytes = size_t{1} << 20;

// Returns the position of `key` in `keys`, which are in order; their number if
// it is not there.
size_t Position(const std::vector<ConnectionKey>& keys,
                const ConnectionKey& key) {
  const auto found = std::lower_bound(keys.begin(), keys.end(), key);
  return found != keys.end() && *found == key
             ? static_cast<size_t>(found - keys.begin())
             : keys.size();
}

}  // namespace

// The payload is random so that nothing on the way can compress it.
DataConnections::DataConnections(const RankPlan& plan, Poller& poller,
                                 uint64_t first_token)
    : plan_(plan),
      poller_(poller),
      first_token_(first_token),
      payload_(RandomBytes(kTurnBytes)),
      outgoing_(plan.outgoing().size()),
      incoming_(plan.incoming().size()) {}

bool DataConnections::Take(const ConnectionKey& key, Socket socket) {
  const bool sends = key.source == plan_.rank();
  const std::vector<ConnectionKey>& keys =
      sends ? plan_.outgoing() : plan_.incoming();
  const size_t index = Position(keys, key);
  if (index == keys.size()) return false;
  Socket& place = sends ? outgoing_[index].socket : incoming_[index].socket;
  if (place.is_open()) return false;
  place = std::move(socket);
  // A sender reads too: that is how it learns of the end.
  poller_.Change(place, sends ? TokenOfOutgoing(index) : TokenOfIncoming(index),
                 {.reads = true});
  return true;
}

bool DataConnections::is_complete() const { return MissingPeers().empty(); }

std::vector<ConnectionKey> DataConnections::MissingOutgoing() const {
  std::vector<ConnectionKey> keys;
  for (size_t i = 0; i < outgoing_.size(); ++i) {
    if (!outgoing_[i].socket.is_open()) keys.push_back(plan_.outgoing()[i]);
  }
  return keys;
}

std::vector<RankId> DataConnections::MissingPeers() const {
  std::set<RankId> peers;
  for (const ConnectionKey& key : MissingOutgoing()) peers.insert(key.target);
  for (size_t i = 0; i < incoming_.size(); ++i) {
    if (!incoming_[i].socket.is_open()) {
      peers.insert(plan_.incoming()[i].source);
    }
  }
  return {peers.begin(), peers.end()};
}

size_t DataConnections::IndexOf(const ConnectionKey& key) const {
  const size_t index = Position(plan_.outgoing(), key);
  ASTRA_CHECK(index < outgoing_.size(), "no connection for a message");
  return index;
}

void DataConnections::Begin(Outgoing& connection) {
  const DataFrame& frame = connection.frames.front();
  connection.header = Encode(frame);
  connection.left = frame.bytes.count();
}

void DataConnections::Send(size_t outgoing, const DataFrame& frame) {
  Outgoing& connection = outgoing_[outgoing];
  connection.frames.push_back(frame);
  if (connection.frames.size() > 1) return;
  Begin(connection);
  if (!connection.awaits) WriteSome(outgoing);
}

// Writes a part of the first message. Sets `is_full` if no more fits now.
absl::Status DataConnections::WriteFirst(Outgoing& connection, size_t budget,
                                         bool* is_full) {
  const size_t part = static_cast<size_t>(
      std::min<int64_t>({connection.left, static_cast<int64_t>(budget),
                         static_cast<int64_t>(payload_.size())}));
  ASTRA_ASSIGN_OR_RETURN(const size_t sent,
                         Write(connection.socket, connection.header,
                               std::string_view(payload_).substr(0, part)));
  const size_t of_header = std::min(sent, connection.header.size());
  *is_full = sent < connection.header.size() + part;
  connection.header.erase(0, of_header);
  connection.left -= static_cast<int64_t>(sent - of_header);
  return absl::OkStatus();
}

void DataConnections::WriteSome(size_t index) {
  Outgoing& connection = outgoing_[index];
  bool is_full = false;
  size_t turn = 0;
  while (!is_full && !connection.frames.empty() && turn < kTurnBytes) {
    const int64_t before = connection.left;
    if (!WriteFirst(connection, kTurnBytes - turn, &is_full).ok()) {
      LoseOutgoing(index);
      return;
    }
    turn += static_cast<size_t>(before - connection.left) + 1;
    if (connection.left > 0 || !connection.header.empty()) continue;
    events_.push_back({.kind = EventKind::kSent,
                       .connection = index,
                       .frame = connection.frames.front(),
                       .peer = plan_.outgoing()[index].target});
    connection.frames.pop_front();
    if (!connection.frames.empty()) Begin(connection);
  }
  const bool awaits = !connection.frames.empty();
  if (awaits == connection.awaits) return;
  connection.awaits = awaits;
  poller_.Change(connection.socket, TokenOfOutgoing(index),
                 {.reads = true, .writes = awaits});
}

void DataConnections::Admit(size_t incoming) {
  Incoming& connection = incoming_[incoming];
  connection.is_admitted = true;
  ReadSome(incoming);
  if (connection.socket.is_open()) Watch(incoming, true);
}

void DataConnections::Watch(size_t index, bool is_watched) {
  Incoming& connection = incoming_[index];
  if (connection.is_watched == is_watched) return;
  connection.is_watched = is_watched;
  poller_.Change(connection.socket, TokenOfIncoming(index),
                 {.reads = is_watched});
}

// Reads a part of a frame, and announces the frame once it is whole.
absl::Status DataConnections::ReadHeader(size_t index, bool* has_all) {
  Incoming& connection = incoming_[index];
  ASTRA_RETURN_IF_ERROR(ReadInto(connection.socket,
                                 DataFrame::kBytes - connection.header.size(),
                                 &connection.header)
                            .status());
  *has_all = connection.header.size() == DataFrame::kBytes;
  if (!*has_all) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(connection.frame, ParseDataFrame(connection.header));
  connection.left = connection.frame.bytes.count();
  connection.is_announced = true;
  connection.is_admitted = false;
  events_.push_back({.kind = EventKind::kAnnounced,
                     .connection = index,
                     .frame = connection.frame,
                     .peer = plan_.incoming()[index].source});
  return absl::OkStatus();
}

void DataConnections::ReadSome(size_t index) {
  Incoming& connection = incoming_[index];
  if (!connection.is_announced) {
    bool has_all = false;
    if (absl::Status status = ReadHeader(index, &has_all); !status.ok()) {
      LoseIncoming(index, absl::IsInvalidArgument(status) ? EventKind::kWrong
                                                          : EventKind::kLost);
    }
    return;
  }
  if (!connection.is_admitted) {
    // The poller reports an unwatched connection only when it has broken.
    if (connection.is_watched) {
      Watch(index, false);
    } else {
      LoseIncoming(index, EventKind::kLost);
    }
    return;
  }
  size_t turn = 0;
  while (connection.left > 0 && turn < kTurnBytes) {
    const absl::StatusOr<size_t> got = Discard(
        connection.socket,
        static_cast<size_t>(std::min<int64_t>(connection.left, kTurnBytes)));
    if (!got.ok()) {
      LoseIncoming(index, EventKind::kLost);
      return;
    }
    if (*got == 0) return;
    connection.left -= static_cast<int64_t>(*got);
    turn += *got;
  }
  if (connection.left > 0) return;
  events_.push_back({.kind = EventKind::kArrived,
                     .connection = index,
                     .frame = connection.frame,
                     .peer = plan_.incoming()[index].source});
  connection.header.clear();
  connection.is_announced = false;
}

void DataConnections::OnReady(const Ready& ready) {
  const size_t position = ready.token - first_token_;
  if (position >= outgoing_.size()) {
    const size_t index = position - outgoing_.size();
    if (incoming_[index].socket.is_open()) ReadSome(index);
    return;
  }
  Outgoing& connection = outgoing_[position];
  if (!connection.socket.is_open()) return;
  if (ready.can_write && connection.awaits) WriteSome(position);
  if (!ready.can_read || !connection.socket.is_open()) return;
  // A receiver sends nothing, so the connection has ended.
  const absl::StatusOr<size_t> got = Discard(connection.socket, kTurnBytes);
  if (!got.ok() || *got > 0) LoseOutgoing(position);
}

void DataConnections::LoseOutgoing(size_t index) {
  outgoing_[index].socket.Close();
  events_.push_back({.kind = EventKind::kLost,
                     .connection = index,
                     .frame = {},
                     .peer = plan_.outgoing()[index].target});
}

void DataConnections::LoseIncoming(size_t index, EventKind why) {
  incoming_[index].socket.Close();
  events_.push_back({.kind = why,
                     .connection = index,
                     .frame = {},
                     .peer = plan_.incoming()[index].source});
}

}  // namespace astra
