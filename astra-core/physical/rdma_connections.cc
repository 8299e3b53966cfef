#include "astra-core/physical/rdma_connections.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Notices of credits have this bit, and notices of slots do not.
constexpr uint32_t kIsCredit = uint32_t{1} << 31;

}  // namespace

RdmaConnections::RdmaConnections(const ConnectionPlan& plan, Poller& poller,
                                 uint64_t first_token,
                                 std::unique_ptr<FabricEndpoint> endpoint)
    : sockets_(plan, poller, first_token),
      memory_(plan.incoming.size(), plan.outgoing.size()),
      num_waiting_(plan.incoming.size() + plan.outgoing.size()),
      outgoing_(plan.outgoing.size()),
      incoming_(plan.incoming.size()),
      endpoint_(std::move(endpoint)) {
  for (size_t i = 0; i < outgoing_.size(); ++i) {
    outgoing_[i].has_credit.fill(true);
    for (SlotWrite& write : outgoing_[i].writes) write.place = Out(i);
  }
  for (size_t i = 0; i < incoming_.size(); ++i) {
    for (SlotWrite& write : incoming_[i].writes) write.place = In(i);
  }
}

absl::Status RdmaConnections::Open(Poller& poller) {
  ASTRA_ASSIGN_OR_RETURN(own_, endpoint_->Register(memory_.all()));
  if (endpoint_->descriptor() < 0) return absl::OkStatus();
  queue_ = Socket(dup(endpoint_->descriptor()));
  if (!queue_.is_open()) {
    return absl::ResourceExhaustedError("the process has no more descriptors");
  }
  poller.Add(queue_, sockets_.end_token(), {.reads = true});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DataConnections>> RdmaConnections::Create(
    const ConnectionPlan& plan, Poller& poller, uint64_t first_token,
    std::unique_ptr<FabricEndpoint> endpoint) {
  std::unique_ptr<RdmaConnections> connections(
      new RdmaConnections(plan, poller, first_token, std::move(endpoint)));
  ASTRA_RETURN_IF_ERROR(connections->Open(poller));
  return connections;
}

RdmaConnections::End& RdmaConnections::EndOf(ConnectionPlace place) {
  return place.is_outgoing ? static_cast<End&>(outgoing_[place.index])
                           : incoming_[place.index];
}

const RdmaConnections::End& RdmaConnections::EndOf(
    ConnectionPlace place) const {
  return place.is_outgoing ? static_cast<const End&>(outgoing_[place.index])
                           : incoming_[place.index];
}

std::vector<ConnectionKey> RdmaConnections::MissingOutgoing() const {
  return sockets_.MissingOutgoing();
}

std::vector<RankId> RdmaConnections::MissingPeers() const {
  return sockets_.PeersWithout([this](ConnectionPlace place) {
    return IsOpen(place) && EndOf(place).is_ready;
  });
}

// Greetings.

RdmaGreeting RdmaConnections::GreetingOf(ConnectionPlace place) const {
  const size_t begin =
      place.is_outgoing ? memory_.credit_at() : memory_.SlotAt(place.index, 0);
  const auto notice = static_cast<uint32_t>(place.index * kSlots);
  return {.provider = endpoint_->name().provider,
          .address = endpoint_->address(),
          .memory = {.address = own_.address + begin, .key = own_.key},
          .slot_bytes = place.is_outgoing ? 0 : memory_.slot_bytes(),
          .first_notice = notice | (place.is_outgoing ? kIsCredit : 0)};
}

void RdmaConnections::Take(const ConnectionKey& key, Socket socket) {
  const std::optional<ConnectionPlace> place =
      sockets_.Take(key, std::move(socket));
  if (!place) return;
  End& end = EndOf(*place);
  end.received.clear();
  if (std::exchange(end.is_ready, false)) ++num_waiting_;
  // A socket that was just made has room for so few bytes.
  const std::string greeting = Encode(GreetingOf(*place));
  const absl::StatusOr<size_t> sent = Write(sockets_.At(*place), greeting);
  if (!sent.ok() || *sent < greeting.size()) sockets_.Close(*place);
}

// Reads the greeting of the other end, as far as it has arrived.
absl::Status RdmaConnections::ReadGreeting(ConnectionPlace place) {
  constexpr size_t kLengthBytes = RdmaGreeting::kLengthBytes;
  std::string& received = EndOf(place).received;
  while (true) {
    size_t wanted = kLengthBytes;
    if (received.size() >= kLengthBytes) {
      ASTRA_ASSIGN_OR_RETURN(
          const size_t length,
          ParseGreetingLength(
              std::string_view(received).substr(0, kLengthBytes)));
      wanted += length;
      if (received.size() == wanted) {
        return Greet(place, std::string_view(received).substr(kLengthBytes));
      }
    }
    ASTRA_ASSIGN_OR_RETURN(
        const size_t got,
        ReadInto(sockets_.At(place), wanted - received.size(), &received));
    if (got == 0) return absl::OkStatus();
  }
}

// Takes the greeting of the other end.
absl::Status RdmaConnections::Greet(ConnectionPlace place,
                                    std::string_view bytes) {
  End& end = EndOf(place);
  ASTRA_ASSIGN_OR_RETURN(end.other, ParseRdmaGreeting(bytes));
  if (end.other.provider != endpoint_->name().provider) {
    return absl::InvalidArgumentError(fmt::format(
        "it sends over libfabric's provider {}, and this rank over {}: name "
        "one for all ranks with --provider",
        end.other.provider, endpoint_->name().provider));
  }
  const bool has_slots = end.other.slot_bytes >= RdmaMemory::kSmallestSlot &&
                         end.other.slot_bytes <= RdmaMemory::kLargestSlot;
  if (has_slots != place.is_outgoing) {
    return absl::InvalidArgumentError(
        fmt::format("it has slots of {} bytes", end.other.slot_bytes));
  }
  ASTRA_ASSIGN_OR_RETURN(end.peer, endpoint_->AddPeer(end.other.address));
  end.is_ready = true;
  --num_waiting_;
  return absl::OkStatus();
}

void RdmaConnections::OnReady(const Ready& ready) {
  if (!sockets_.Owns(ready.token)) return;  // Progress() reads the queue.
  const ConnectionPlace place = sockets_.PlaceOf(ready.token);
  if (!IsOpen(place)) return;
  if (EndOf(place).is_ready) {
    // After its greeting an end sends nothing, so the connection has ended.
    Lose(place, DataEvent::Kind::kLost);
    return;
  }
  const absl::Status status = ReadGreeting(place);
  if (status.ok()) return;
  sockets_.Close(place);
  // Whoever is lost now may connect again.
  if (absl::IsUnavailable(status)) return;
  failure_ = absl::InternalError(fmt::format("the greeting of rank {}: {}",
                                             sockets_.PeerOf(place),
                                             std::string(status.message())));
}

// Sending.

void RdmaConnections::Send(size_t outgoing, const DataFrame& frame) {
  outgoing_[outgoing].messages.push_back({.frame = frame,
                                          .left = frame.bytes.count(),
                                          .has_begun = false,
                                          .num_under_way = 0});
  WriteSome(outgoing);
}

void RdmaConnections::WriteSome(size_t outgoing) {
  const Outgoing& connection = outgoing_[outgoing];
  while (IsOpen(Out(outgoing)) && !connection.is_blocked &&
         connection.num_begun <
             connection.num_ended + connection.messages.size()) {
    const uint32_t slot = connection.next_slot;
    if (!connection.has_credit[slot] || connection.writes[slot].is_under_way ||
        !WriteSlot(outgoing)) {
      return;
    }
  }
}

// Writes the next part of the first message whose writes have not all begun.
// Returns false if that is not possible now.
bool RdmaConnections::WriteSlot(size_t outgoing) {
  Outgoing& connection = outgoing_[outgoing];
  const uint32_t slot = connection.next_slot;
  Message& message =
      connection.messages[connection.num_begun - connection.num_ended];
  const size_t header_bytes = message.has_begun ? 0 : DataFrame::kBytes;
  const size_t header_at = memory_.HeaderAt(outgoing, slot);
  if (!message.has_begun) {
    const std::string header = Encode(message.frame);
    std::copy(header.begin(), header.end(),
              memory_.all().begin() + static_cast<std::ptrdiff_t>(header_at));
  }
  const size_t room = connection.other.slot_bytes - header_bytes;
  const auto part = static_cast<size_t>(
      std::min<int64_t>(message.left, static_cast<int64_t>(room)));
  FabricWrite write;
  write.first = memory_.At(header_at, header_bytes);
  write.second = memory_.Payload(part);
  write.target.address = uint64_t{slot} * connection.other.slot_bytes;
  if (!WriteTo(Out(outgoing), slot, write)) return false;
  connection.writes[slot].message = connection.num_begun;
  connection.has_credit[slot] = false;
  connection.next_slot = (slot + 1) % kSlots;
  message.has_begun = true;
  message.left -= static_cast<int64_t>(part);
  ++message.num_under_way;
  if (message.left == 0) ++connection.num_begun;
  return true;
}

// Begins to write to the other end. The address of `write` counts from the
// memory that the other end has named.
bool RdmaConnections::WriteTo(ConnectionPlace place, uint32_t slot,
                              FabricWrite write) {
  End& end = EndOf(place);
  write.peer = end.peer;
  write.target.address += end.other.memory.address;
  write.target.key = end.other.memory.key;
  write.notice = end.other.first_notice + slot;
  const absl::StatusOr<bool> has_begun =
      endpoint_->Write(write, &end.writes[slot]);
  if (!has_begun.ok()) {
    Lose(place, DataEvent::Kind::kLost);
    return false;
  }
  if (!*has_begun) {
    end.is_blocked = true;
    blocked_.push_back(place);
    return false;
  }
  end.writes[slot].is_under_way = true;
  return true;
}

// Handles the end of a write of this rank.
void RdmaConnections::OnWritten(SlotWrite& write) {
  write.is_under_way = false;
  const size_t index = write.place.index;
  if (!write.place.is_outgoing) {
    ReturnCredits(index);
    return;
  }
  Outgoing& connection = outgoing_[index];
  Message& message = connection.messages[write.message - connection.num_ended];
  --message.num_under_way;
  if (message.is_sent()) {
    Report(DataEvent::Kind::kSent, write.place, message.frame);
  }
  while (!connection.messages.empty() &&
         connection.messages.front().is_sent()) {
    connection.messages.pop_front();
    ++connection.num_ended;
  }
  WriteSome(index);
}

// Receiving.

void RdmaConnections::Admit(size_t incoming) {
  incoming_[incoming].is_admitted = true;
  TakeSlots(incoming);
}

// Reads the frame in the next slot, and announces its message.
absl::Status RdmaConnections::Announce(size_t incoming) {
  Incoming& connection = incoming_[incoming];
  const size_t at = memory_.SlotAt(incoming, connection.next_slot);
  ASTRA_ASSIGN_OR_RETURN(connection.frame,
                         ParseDataFrame(memory_.At(at, DataFrame::kBytes)));
  connection.left = connection.frame.bytes.count();
  connection.is_announced = true;
  connection.is_admitted = false;
  Report(DataEvent::Kind::kAnnounced, In(incoming), connection.frame);
  return absl::OkStatus();
}

// Takes full slots, one after the other, until a message has to be admitted.
void RdmaConnections::TakeSlots(size_t incoming) {
  Incoming& connection = incoming_[incoming];
  while (IsOpen(In(incoming)) && connection.is_full[connection.next_slot]) {
    if (!connection.is_announced && !Announce(incoming).ok()) {
      Lose(In(incoming), DataEvent::Kind::kWrong);
      return;
    }
    if (!connection.is_admitted) return;
    const bool is_first = connection.left == connection.frame.bytes.count();
    const auto room = static_cast<int64_t>(memory_.slot_bytes() -
                                           (is_first ? DataFrame::kBytes : 0));
    connection.left -= std::min(connection.left, room);
    connection.is_full[connection.next_slot] = false;
    connection.owes_credit[connection.next_slot] = true;
    connection.next_slot = (connection.next_slot + 1) % kSlots;
    ReturnCredits(incoming);
    if (connection.left > 0) continue;
    connection.is_announced = false;
    Report(DataEvent::Kind::kArrived, In(incoming), connection.frame);
  }
}

void RdmaConnections::ReturnCredits(size_t incoming) {
  Incoming& connection = incoming_[incoming];
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (!connection.owes_credit[slot] || connection.writes[slot].is_under_way ||
        connection.is_blocked || !IsOpen(In(incoming))) {
      continue;
    }
    FabricWrite write;
    write.first = memory_.credit();
    connection.owes_credit[slot] = !WriteTo(In(incoming), slot, write);
  }
}

// Progress.

absl::Status RdmaConnections::OnNotice(uint32_t notice) {
  const bool is_credit = (notice & kIsCredit) != 0;
  const uint32_t number = notice & ~kIsCredit;
  const size_t index = number / kSlots;
  const uint32_t slot = number % kSlots;
  const ConnectionPlace place{is_credit, index};
  if (index < (is_credit ? outgoing_.size() : incoming_.size())) {
    if (!IsOpen(place)) return absl::OkStatus();
    bool& is_set = is_credit ? outgoing_[index].has_credit[slot]
                             : incoming_[index].is_full[slot];
    if (!is_set) {
      is_set = true;
      is_credit ? WriteSome(index) : TakeSlots(index);
      return absl::OkStatus();
    }
  }
  return absl::InternalError(
      "a process writes to this rank what no rank of this run would");
}

absl::Status RdmaConnections::Handle(const FabricCompletion& completion) {
  if (completion.kind == FabricCompletion::Kind::kNotice) {
    return OnNotice(completion.notice);
  }
  auto& write = *static_cast<SlotWrite*>(completion.ticket);
  if (completion.kind == FabricCompletion::Kind::kWritten) {
    OnWritten(write);
  } else if (IsOpen(write.place)) {
    Lose(write.place, DataEvent::Kind::kLost);
  }
  return absl::OkStatus();
}

// Tries again what had no room.
void RdmaConnections::Retry() {
  for (const ConnectionPlace place : std::exchange(blocked_, {})) {
    EndOf(place).is_blocked = false;
    place.is_outgoing ? WriteSome(place.index) : ReturnCredits(place.index);
  }
}

absl::StatusOr<Instant> RdmaConnections::Progress(Instant until) {
  ASTRA_RETURN_IF_ERROR(failure_);
  // Nothing moves before all connections are ready.
  if (num_waiting_ > 0) return until;
  completions_.clear();
  failure_ = endpoint_->Poll(&completions_);
  for (const FabricCompletion& completion : completions_) {
    if (failure_.ok()) failure_ = Handle(completion);
  }
  ASTRA_RETURN_IF_ERROR(failure_);
  Retry();
  const Instant now = HostClock::now();
  if (has_events() || !endpoint_->MayWait()) return std::min(until, now);
  // Room may come without anything to tell of it.
  constexpr std::chrono::milliseconds kUntilRetry(1);
  return blocked_.empty() ? until : std::min<Instant>(until, now + kUntilRetry);
}

void RdmaConnections::Report(DataEvent::Kind kind, ConnectionPlace place,
                             const DataFrame& frame) {
  events_.push_back({.kind = kind,
                     .connection = place.index,
                     .frame = frame,
                     .peer = sockets_.PeerOf(place)});
}

void RdmaConnections::Lose(ConnectionPlace place, DataEvent::Kind why) {
  sockets_.Close(place);
  Report(why, place, {});
}

}  // namespace astra
