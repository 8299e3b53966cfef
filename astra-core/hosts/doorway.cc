#include "astra-core/hosts/doorway.h"

#include <utility>

#include "astra-core/base/status_macros.h"

namespace astra {

Doorway::Doorway(const Secret& secret, Poller& poller, uint64_t first_token)
    : secret_(secret),
      poller_(poller),
      listener_token_(first_token),
      next_token_(first_token + 1) {}

void Doorway::Open(Socket listener) {
  listener_ = std::move(listener);
  poller_.Add(listener_, listener_token_, {.reads = true});
}

uint64_t Doorway::Admit(Guest guest) {
  const uint64_t token = next_token_++;
  poller_.Add(guest.socket, token, {.reads = true, .writes = guest.connects});
  guests_.emplace(token, std::move(guest));
  return token;
}

absl::StatusOr<uint64_t> Doorway::Connect(const Endpoint& endpoint,
                                          std::string claim) {
  ASTRA_ASSIGN_OR_RETURN(Socket socket, StartConnect(endpoint));
  Guest guest{.socket = std::move(socket),
              .handshake = Handshake::Connect(secret_, std::move(claim)),
              .connects = true,
              .is_connected = false,
              .unsent = {},
              .peer = endpoint.ToString(),
              .deadline = HostClock::now() + kPatience};
  guest.unsent = guest.handshake.TakeOutput();
  return Admit(std::move(guest));
}

void Doorway::Accept() {
  // A flood of connections must not keep others from their turn.
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce; ++i) {
    absl::StatusOr<std::optional<Socket>> accepted = AcceptFrom(listener_);
    if (!accepted.ok()) {
      Pause(accepted.status());
      return;
    }
    if (!accepted->has_value()) return;
    if (guests_.size() >= kMostAtOnce) continue;
    std::string peer = PeerOf(**accepted);
    Admit({.socket = **std::move(accepted),
           .handshake = Handshake::Accept(secret_),
           .connects = false,
           .is_connected = true,
           .unsent = {},
           .peer = std::move(peer),
           .deadline = HostClock::now() + kPatience});
  }
}

// The listener stays readable while its connections wait, so the poller would
// return at once, again and again.
void Doorway::Pause(const absl::Status& why) {
  constexpr std::chrono::milliseconds kPause(100);
  poller_.Change(listener_, listener_token_, {});
  resumes_ = HostClock::now() + kPause;
  refused_.push_back({.token = listener_token_,
                      .connects = false,
                      .peer = "an unknown address",
                      .why = why});
}

void Doorway::OnReady(const Ready& ready) {
  if (ready.token == listener_token_) {
    Accept();
    return;
  }
  const auto found = guests_.find(ready.token);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  if (absl::Status status = GoOn(guest, ready.token, ready); !status.ok()) {
    Refuse(ready.token, std::move(status));
    return;
  }
  if (!guest.handshake.is_done() || !guest.unsent.empty()) return;
  entered_.push_back({.token = ready.token,
                      .socket = std::move(guest.socket),
                      .claim = guest.handshake.claim(),
                      .connects = guest.connects});
  guests_.erase(found);
}

absl::Status Doorway::GoOn(Guest& guest, uint64_t token, const Ready& ready) {
  if (!guest.is_connected) {
    ASTRA_RETURN_IF_ERROR(ConnectResult(guest.socket));
    guest.is_connected = ready.can_write;
    if (!guest.is_connected) return absl::OkStatus();
  }
  while (guest.handshake.wanted() > 0) {
    std::string bytes;
    ASTRA_ASSIGN_OR_RETURN(
        const size_t got,
        ReadInto(guest.socket, guest.handshake.wanted(), &bytes));
    if (got == 0) break;
    ASTRA_RETURN_IF_ERROR(guest.handshake.Take(bytes));
    guest.unsent += guest.handshake.TakeOutput();
  }
  if (!guest.unsent.empty()) {
    ASTRA_ASSIGN_OR_RETURN(const size_t sent,
                           Write(guest.socket, guest.unsent));
    guest.unsent.erase(0, sent);
  }
  poller_.Change(guest.socket, token,
                 {.reads = true, .writes = !guest.unsent.empty()});
  return absl::OkStatus();
}

void Doorway::Refuse(uint64_t token, absl::Status why) {
  const auto found = guests_.find(token);
  Guest& guest = found->second;
  refused_.push_back({.token = token,
                      .connects = guest.connects,
                      .peer = std::move(guest.peer),
                      .why = std::move(why)});
  guests_.erase(found);
}

void Doorway::Close() {
  listener_.Close();
  guests_.clear();
  entered_.clear();
  refused_.clear();
}

void Doorway::CloseLate() {
  const Instant now = HostClock::now();
  if (resumes_ && *resumes_ <= now) {
    resumes_.reset();
    if (listener_.is_open()) {
      poller_.Change(listener_, listener_token_, {.reads = true});
    }
  }
  std::vector<uint64_t> late;
  for (const auto& [token, guest] : guests_) {
    if (guest.deadline <= now) late.push_back(token);
  }
  for (const uint64_t token : late) {
    Refuse(token,
           absl::DeadlineExceededError("the other end said nothing for 5 s"));
  }
}

}  // namespace astra
