#include "astra-core/physical/rank_session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "astra-core/base/files.h"
#include "astra-core/base/host_name.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kCoordinatorToken = 0;
constexpr uint64_t kDoorwayTokens = uint64_t{1} << 32;
constexpr uint64_t kDataTokens = uint64_t{1} << 48;
constexpr milliseconds kBetweenTries(100);
// Time for the coordinator to say which rank is lost, which it notices itself.
constexpr milliseconds kUntilVerdict(2000);

Instant In(milliseconds time) { return HostClock::now() + time; }

}  // namespace

std::string BootId() {
  const absl::StatusOr<std::string> id =
      ReadFile("/proc/sys/kernel/random/boot_id");
  return id.ok() ? *id : RandomBytes(16);
}

RankSession::RankSession(const RankSetting& setting, const Secret& secret,
                         const RankPlan& plan, OpenConnections open)
    : setting_(setting),
      secret_(secret),
      plan_(plan),
      doorway_(secret_, poller_, kDoorwayTokens),
      open_(std::move(open)) {}

absl::Status RankSession::Run(const Iteration& iteration) {
  absl::Status status = Join();
  if (status.ok()) status = OpenNetwork();
  if (status.ok()) status = ConnectToPeers();
  if (status.ok()) status = Serve(iteration);
  if (status.ok()) return status;
  status = Explain(std::move(status));
  // A rank that never joined says so itself; for others the coordinator does.
  const bool is_loss = absl::IsUnavailable(status) && link_;
  return is_loss ? absl::AbortedError(status.message()) : status;
}

// Returns the coordinator's reason for the end, if it has one.
absl::Status RankSession::Explain(absl::Status status) {
  if (!link_ || !link_->is_open() || !verdict_.ok()) return status;
  const Instant until = In(kUntilVerdict);
  if (absl::IsUnavailable(status)) {
    while (verdict_.ok() && HostClock::now() < until) {
      WaitUntil(until).IgnoreError();
    }
    if (!verdict_.ok()) return verdict_;
  }
  Send(AbortMessage{std::string(status.message())});
  while (verdict_.ok() && HostClock::now() < until) {
    WaitUntil(until).IgnoreError();
  }
  return status;
}

absl::Status RankSession::Join() {
  ASTRA_ASSIGN_OR_RETURN(Socket listener, Listen({setting_.address, 0}));
  const uint16_t port = PortOf(listener);
  const Instant deadline = HostClock::now() + setting_.join_limit;
  bool is_trying = false;
  Instant next_try = HostClock::now();
  absl::Status why = absl::UnavailableError("no answer");
  while (!link_) {
    if (HostClock::now() >= deadline) {
      return absl::UnavailableError(
          fmt::format("rank {} on {} cannot reach {} at {} within {} s: {}",
                      setting_.rank, HostName(), setting_.coordinator_name,
                      setting_.coordinator.ToString(),
                      setting_.join_limit.count(), std::string(why.message())));
    }
    if (!is_trying && HostClock::now() >= next_try) {
      next_try = In(kBetweenTries);
      const auto token = doorway_.Connect(setting_.coordinator, "join");
      is_trying = token.ok();
      if (!is_trying) why = token.status();
    }
    ASTRA_RETURN_IF_ERROR(WaitUntil(In(kBetweenTries)));
    for (Entered& entered : doorway_.TakeEntered()) {
      link_.emplace(std::move(entered.socket), poller_, kCoordinatorToken);
    }
    for (const Refused& refused : doorway_.TakeRefused()) {
      if (absl::IsPermissionDenied(refused.why)) {
        return absl::PermissionDeniedError(fmt::format(
            "{} at {} has another secret", setting_.coordinator_name,
            setting_.coordinator.ToString()));
      }
      why = refused.why;
      is_trying = false;
    }
  }
  doorway_.Open(std::move(listener));
  Send(JoinMessage{.rank = setting_.rank,
                   .num_ranks = setting_.num_ranks,
                   .digest = setting_.digest,
                   .host = HostName(),
                   .boot = BootId(),
                   .address = setting_.address,
                   .port = port});
  return absl::OkStatus();
}

// The rank has joined, so that the coordinator can name it if it has no device.
absl::Status RankSession::OpenNetwork() {
  auto connections = open_(plan_.connections(), poller_, kDataTokens);
  if (!connections.ok()) {
    return absl::AbortedError(connections.status().message());
  }
  connections_ = *std::move(connections);
  return absl::OkStatus();
}

absl::Status RankSession::ConnectToPeers() {
  // The coordinator ends the run if ranks are missing for too long.
  ASTRA_ASSIGN_OR_RETURN(ControlMessage message, Next());
  if (!std::holds_alternative<RosterMessage>(message)) {
    return absl::InternalError("the coordinator does not say who takes part");
  }
  roster_ = std::get<RosterMessage>(std::move(message));
  if (roster_->ranks.size() != setting_.num_ranks) {
    return absl::InternalError("the coordinator has another number of ranks");
  }
  const Instant deadline = HostClock::now() + setting_.join_limit;
  Instant next_try = HostClock::now();
  while (!connections_->MissingPeers().empty()) {
    TakePeers();
    ASTRA_RETURN_IF_ERROR(TakeRefused());
    if (num_connecting_ == 0 && HostClock::now() >= next_try) {
      next_try = In(kBetweenTries);
      ASTRA_RETURN_IF_ERROR(ConnectMissing());
    }
    if (HostClock::now() >= deadline) {
      std::vector<uint32_t> ranks;
      for (const RankId peer : connections_->MissingPeers()) {
        ranks.push_back(peer.index());
      }
      return absl::AbortedError(fmt::format(
          "no connection with rank(s) {} within --join-limit, {} s: {}",
          fmt::join(ranks, ", "), setting_.join_limit.count(),
          why_not_connected_));
    }
    ASTRA_RETURN_IF_ERROR(WaitUntil(In(kBetweenTries)));
  }
  // Each connection that was lost before has been made again. Nobody else has
  // to come.
  connections_->TakeEvents();
  doorway_.Close();
  Send(ConnectedMessage{connections_->network()});
  return absl::OkStatus();
}

// Connects where there is neither a connection nor an attempt.
absl::Status RankSession::ConnectMissing() {
  constexpr size_t kAtOnce = 256;
  for (const ConnectionKey& key : connections_->MissingOutgoing()) {
    if (num_connecting_ == kAtOnce) break;
    ASTRA_RETURN_IF_ERROR(doorway_
                              .Connect(roster_->ranks[key.target.index()],
                                       ClaimOf(roster_->session, key))
                              .status());
    ++num_connecting_;
  }
  return absl::OkStatus();
}

// Turns connections of this run into connections for messages, and closes all
// others.
void RankSession::TakePeers() {
  if (!roster_) return;  // The session that claims have to name is not known.
  for (Entered& entered : doorway_.TakeEntered()) {
    if (entered.connects) --num_connecting_;
    const auto key = ParseClaim(roster_->session, entered.claim);
    if (!key.ok()) continue;
    const bool is_ours = entered.connects ? key->source == setting_.rank
                                          : key->target == setting_.rank;
    if (is_ours) connections_->Take(*key, std::move(entered.socket));
  }
}

absl::Status RankSession::TakeRefused() {
  for (const Refused& refused : doorway_.TakeRefused()) {
    if (!refused.connects) continue;  // A stranger was refused.
    --num_connecting_;
    if (absl::IsPermissionDenied(refused.why)) {
      return absl::PermissionDeniedError(fmt::format(
          "{} is no rank of this run: it has another secret", refused.peer));
    }
    why_not_connected_ =
        fmt::format("{}: {}", refused.peer, std::string(refused.why.message()));
  }
  return absl::OkStatus();
}

absl::Status RankSession::Serve(const Iteration& iteration) {
  while (true) {
    ASTRA_ASSIGN_OR_RETURN(const ControlMessage message, Next());
    if (std::holds_alternative<FinishMessage>(message)) return absl::OkStatus();
    const auto* begin = std::get_if<BeginMessage>(&message);
    if (begin == nullptr) {
      return absl::InternalError("the coordinator says what no rank expects");
    }
    const Instant at{
        std::chrono::duration_cast<HostClock::duration>(begin->at)};
    while (HostClock::now() < at) ASTRA_RETURN_IF_ERROR(WaitUntil(at));
    ASTRA_ASSIGN_OR_RETURN(
        RankReport report,
        iteration(begin->iteration, at, *connections_,
                  [this](Instant until) { return WaitUntil(until); }));
    Send(ReportMessage{begin->iteration, std::move(report)});
  }
}

// Returns the next message of the coordinator that is not for Step(). A network
// that fails meanwhile matters only to the next iteration, if there is one: at
// the end of the run other ranks may leave first.
absl::StatusOr<ControlMessage> RankSession::Next() {
  constexpr std::chrono::hours kLong(1);
  while (inbox_.empty()) ASTRA_RETURN_IF_ERROR(Step(In(kLong)));
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

absl::Status RankSession::WaitUntil(Instant until) {
  ASTRA_RETURN_IF_ERROR(Step(until));
  return network_;
}

// Handles what happens until `until`. Returns the coordinator's verdict.
absl::Status RankSession::Step(Instant until) {
  ASTRA_RETURN_IF_ERROR(verdict_);
  const absl::StatusOr<Instant> wake =
      connections_ ? connections_->Progress(until) : until;
  network_ = wake.status();
  for (const Ready& ready : poller_.Wait(wake.value_or(until))) {
    if (ready.token == kCoordinatorToken) {
      verdict_ = OnCoordinator(ready);
    } else if (connections_ && connections_->Owns(ready.token)) {
      connections_->OnReady(ready);
    } else {
      doorway_.OnReady(ready);
    }
  }
  if (HostClock::now() >= next_close_) {
    next_close_ = In(milliseconds(1000));
    doorway_.CloseLate();
  }
  return verdict_;
}

absl::Status RankSession::OnCoordinator(const Ready& ready) {
  std::vector<std::string> messages;
  const absl::Status status = link_->OnReady(ready, &messages);
  for (const std::string& bytes : messages) {
    ASTRA_ASSIGN_OR_RETURN(ControlMessage message, ParseControlMessage(bytes));
    if (const auto* ping = std::get_if<PingMessage>(&message)) {
      Send(PongMessage{ping->number, HostClock::now().time_since_epoch()});
    } else if (const auto* abort = std::get_if<AbortMessage>(&message)) {
      return absl::AbortedError(abort->why);
    } else {
      inbox_.push_back(std::move(message));
    }
  }
  // After Finish the coordinator leaves.
  const bool has_finished =
      !inbox_.empty() && std::holds_alternative<FinishMessage>(inbox_.back());
  if (status.ok() || has_finished) return absl::OkStatus();
  link_->Close();
  return absl::UnavailableError(fmt::format("{} was lost: {}",
                                            setting_.coordinator_name,
                                            std::string(status.message())));
}

}  // namespace astra
