#include "astra-core/physical/coordinator.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/physical/rank_session.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kDoorwayTokens = uint64_t{1} << 32;
constexpr milliseconds kBetweenWatches(100);
constexpr std::chrono::seconds kUntilGone(2);
constexpr uint32_t kPings = 16;

HostTime Clock() { return HostClock::now().time_since_epoch(); }

// "3, 5, 7 and 12 more".
std::string ListOf(const std::vector<uint32_t>& ranks) {
  constexpr size_t kMost = 8;
  const absl::Span<const uint32_t> all = ranks;
  const size_t named = std::min(kMost, ranks.size());
  std::string text = fmt::format("{}", fmt::join(all.first(named), ", "));
  if (named < ranks.size()) {
    text += fmt::format(" and {} more", ranks.size() - named);
  }
  return text;
}

}  // namespace

Coordinator::Coordinator(const CoordinatorSetting& setting,
                         const Secret& secret, Socket listener,
                         std::function<void(std::string_view)> warn)
    : setting_(setting),
      boot_(BootId()),
      warn_(std::move(warn)),
      doorway_(secret, poller_, kDoorwayTokens),
      members_(setting.num_ranks),
      begin_(HostClock::now()) {
  doorway_.Open(std::move(listener));
}

absl::StatusOr<PhysicalReports> Coordinator::Run(
    const std::function<absl::Status(const PhysicalProgress&)>& watch) {
  absl::Status status;
  while (status.ok() && !has_finished_) {
    status = Step(HostClock::now() + kBetweenWatches);
    if (status.ok()) status = watch(ProgressNow());
    if (status.ok()) status = CheckTime();
  }
  TellEnd(status);
  if (!status.ok()) return status;
  for (const Member& member : members_) {
    reports_.hosts.push_back(member.host);
    if (member.shares_clock) continue;
    reports_.clock_error =
        std::max(reports_.clock_error, member.clock.round_trip() / 2);
  }
  return std::move(reports_);
}

// Tells all ranks that the run is over, and waits until they have gone.
void Coordinator::TellEnd(const absl::Status& why) {
  const std::string message =
      why.ok() ? Encode(FinishMessage{})
               : Encode(AbortMessage{std::string(why.message())});
  for (auto& [_, guest] : guests_) {
    if (!std::exchange(guest.is_leaving, true)) guest.link.Send(message);
  }
  has_finished_ = true;
  const Instant until = HostClock::now() + kUntilGone;
  while (!guests_.empty() && HostClock::now() < until) {
    Step(until).IgnoreError();
  }
}

absl::Status Coordinator::Step(Instant until) {
  for (const Ready& ready : poller_.Wait(until)) {
    if (guests_.count(ready.token) > 0) {
      ASTRA_RETURN_IF_ERROR(OnGuest(ready));
    } else {
      doorway_.OnReady(ready);
    }
  }
  doorway_.CloseLate();
  TakeGuests();
  return absl::OkStatus();
}

void Coordinator::TakeGuests() {
  for (Entered& entered : doorway_.TakeEntered()) {
    std::string peer = PeerOf(entered.socket);
    guests_.emplace(entered.token,
                    Guest{MessageLink(std::move(entered.socket), poller_,
                                      entered.token, /*is_new=*/false),
                          std::move(peer), HostClock::now()});
  }
  for (const Refused& refused : doorway_.TakeRefused()) {
    warn_(fmt::format("a connection from {} was refused: {}", refused.peer,
                      std::string(refused.why.message())));
  }
}

absl::Status Coordinator::OnGuest(const Ready& ready) {
  Guest& guest = guests_.at(ready.token);
  std::vector<std::string> messages;
  const absl::Status status = guest.link.OnReady(ready, &messages);
  for (const std::string& bytes : messages) {
    if (guest.is_leaving) continue;
    const auto message = ParseControlMessage(bytes);
    if (!message.ok()) return OnEnd(ready.token, message.status());
    ASTRA_RETURN_IF_ERROR(OnMessage(ready.token, *message));
  }
  return status.ok() ? status : OnEnd(ready.token, status);
}

// The guest has gone, or has to.
absl::Status Coordinator::OnEnd(uint64_t token, const absl::Status& why) {
  const std::optional<RankId> rank = RankOf(token);
  guests_.erase(token);
  if (!rank) return absl::OkStatus();
  members_[rank->index()].token.reset();
  if (has_finished_) return absl::OkStatus();
  return absl::AbortedError(fmt::format("{} was lost: {}", NameOf(*rank),
                                        std::string(why.message())));
}

absl::Status Coordinator::OnMessage(uint64_t token,
                                    const ControlMessage& message) {
  const std::optional<RankId> rank = RankOf(token);
  if (rank) return OnRankMessage(*rank, message);
  if (const auto* join = std::get_if<JoinMessage>(&message)) {
    return OnJoin(token, *join);
  }
  Refuse(token, "it does not say which rank it is");
  return absl::OkStatus();
}

void Coordinator::Refuse(uint64_t token, std::string_view why) {
  Guest& guest = guests_.at(token);
  warn_(fmt::format("a process on {} was refused: {}", guest.peer, why));
  guest.link.Send(Encode(AbortMessage{std::string(why)}));
  guest.is_leaving = true;
}

// Returns why a rank cannot join; "" if it can.
std::string Coordinator::WhyNot(const JoinMessage& join) const {
  if (join.num_ranks != setting_.num_ranks ||
      join.rank.index() >= setting_.num_ranks) {
    return fmt::format("rank {} of {} is not of this run, which has {} ranks",
                       join.rank, join.num_ranks, setting_.num_ranks);
  }
  if (join.digest != setting_.digest) {
    return fmt::format(
        "the workload, cluster or options of rank {} on {} differ from those "
        "of the coordinator",
        join.rank, join.host);
  }
  const Member& member = members_[join.rank.index()];
  if (member.token) {
    return fmt::format("rank {} has joined already, from {}", join.rank,
                       member.host);
  }
  return {};
}

absl::Status Coordinator::OnJoin(uint64_t token, const JoinMessage& join) {
  if (const std::string why = WhyNot(join); !why.empty()) {
    Refuse(token, why);
    return absl::OkStatus();
  }
  Member& member = members_[join.rank.index()];
  member.token = token;
  member.host = join.host;
  member.endpoint = {
      join.address.empty() ? guests_.at(token).peer : join.address, join.port};
  member.shares_clock = join.boot == boot_;
  if (AllAre([](const Member& each) { return each.token.has_value(); })) {
    SendRoster();
  }
  return absl::OkStatus();
}

void Coordinator::SendRoster() {
  constexpr size_t kSessionBytes = 16;
  RosterMessage roster{.session = RandomBytes(kSessionBytes), .ranks = {}};
  for (const Member& member : members_) roster.ranks.push_back(member.endpoint);
  SendAll(roster);
}

absl::Status Coordinator::OnRankMessage(RankId rank,
                                        const ControlMessage& message) {
  Member& member = members_[rank.index()];
  if (std::holds_alternative<ConnectedMessage>(message)) {
    return OnConnected(member);
  }
  if (const auto* pong = std::get_if<PongMessage>(&message)) {
    return OnPong(member, *pong);
  }
  if (const auto* report = std::get_if<ReportMessage>(&message)) {
    return OnReport(rank, *report);
  }
  if (const auto* abort = std::get_if<AbortMessage>(&message)) {
    return absl::AbortedError(
        fmt::format("{} gave up: {}", NameOf(rank), abort->why));
  }
  return absl::AbortedError(
      fmt::format("{} says what no rank says", NameOf(rank)));
}

absl::Status Coordinator::OnConnected(Member& member) {
  member.is_connected = true;
  if (!AllAre([](const Member& each) { return each.is_connected; })) {
    return absl::OkStatus();
  }
  for (Member& each : members_) {
    each.num_pings = each.shares_clock ? kPings : 0;
    if (!each.shares_clock) SendPing(each);
  }
  const bool share =
      AllAre([](const Member& each) { return each.shares_clock; });
  if (share) BeginIteration();
  return absl::OkStatus();
}

void Coordinator::SendPing(Member& member) {
  member.pinged = Clock();
  Send(member, PingMessage{member.num_pings});
}

absl::Status Coordinator::OnPong(Member& member, const PongMessage& pong) {
  if (pong.number != member.num_pings || member.num_pings >= kPings) {
    return absl::AbortedError("a rank answers what was not asked");
  }
  member.clock.Add(member.pinged, pong.clock, Clock());
  if (++member.num_pings < kPings) {
    SendPing(member);
  } else if (AllAre(
                 [](const Member& each) { return each.num_pings == kPings; })) {
    BeginIteration();
  }
  return absl::OkStatus();
}

void Coordinator::BeginIteration() {
  // All ranks have heard of it by then.
  constexpr milliseconds kAhead(20);
  constexpr HostTime kPerRank(20'000);
  if (!first_iteration_) first_iteration_ = HostClock::now();
  const HostTime at = Clock() + kAhead + kPerRank * setting_.num_ranks;
  const auto iteration = static_cast<uint32_t>(reports_.iterations.size());
  for (Member& member : members_) {
    member.report.reset();
    const HostTime offset =
        member.shares_clock ? HostTime(0) : member.clock.offset();
    Send(member, BeginMessage{.iteration = iteration, .at = at + offset});
  }
}

absl::Status Coordinator::OnReport(RankId rank, const ReportMessage& report) {
  Member& member = members_[rank.index()];
  if (report.iteration != reports_.iterations.size() || member.report ||
      !first_iteration_) {
    return absl::AbortedError(fmt::format(
        "{} reports an iteration that it was not asked for", NameOf(rank)));
  }
  member.report = report.report;
  if (!AllAre([](const Member& each) { return each.report.has_value(); })) {
    return absl::OkStatus();
  }
  std::vector<RankReport>& all = reports_.iterations.emplace_back();
  for (Member& each : members_) all.push_back(*std::move(each.report));
  if (reports_.iterations.size() < setting_.num_iterations) {
    BeginIteration();
  } else {
    has_finished_ = true;
  }
  return absl::OkStatus();
}

absl::Status Coordinator::CheckTime() const {
  const Instant now = HostClock::now();
  if (first_iteration_) {
    if (now < *first_iteration_ + setting_.time_limit) return absl::OkStatus();
    std::vector<uint32_t> ranks;
    for (uint32_t i = 0; i < members_.size(); ++i) {
      if (!members_[i].report) ranks.push_back(i);
    }
    return absl::AbortedError(fmt::format(
        "the run takes longer than --time-limit, {} s; iteration {} lacks "
        "rank(s) {}",
        setting_.time_limit.count(), reports_.iterations.size(),
        ListOf(ranks)));
  }
  if (now < begin_ + setting_.join_limit) return absl::OkStatus();
  std::vector<uint32_t> absent;
  std::vector<uint32_t> unconnected;
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].token) absent.push_back(i);
    if (!members_[i].is_connected) unconnected.push_back(i);
  }
  if (!absent.empty()) {
    return absl::AbortedError(
        fmt::format("rank(s) {} have not joined within --join-limit, {} s",
                    ListOf(absent), setting_.join_limit.count()));
  }
  return absl::AbortedError(fmt::format(
      "rank(s) {} have not connected to the others within --join-limit, {} s",
      ListOf(unconnected), setting_.join_limit.count()));
}

PhysicalProgress Coordinator::ProgressNow() const {
  PhysicalProgress progress;
  for (const Member& member : members_) {
    progress.joined += member.token.has_value();
    progress.connected += member.is_connected;
  }
  progress.iterations = static_cast<uint32_t>(reports_.iterations.size());
  return progress;
}

void Coordinator::SendAll(const ControlMessage& message) {
  for (const Member& member : members_) Send(member, message);
}

void Coordinator::Send(const Member& member, const ControlMessage& message) {
  if (member.token) guests_.at(*member.token).link.Send(Encode(message));
}

std::optional<RankId> Coordinator::RankOf(uint64_t token) const {
  const auto found = std::find_if(
      members_.begin(), members_.end(),
      [token](const Member& member) { return member.token == token; });
  if (found == members_.end()) return std::nullopt;
  return RankId(static_cast<uint32_t>(found - members_.begin()));
}

std::string Coordinator::NameOf(RankId rank) const {
  return fmt::format("rank {} on {}", rank, members_[rank.index()].host);
}

template <class Is>
bool Coordinator::AllAre(Is is) const {
  return std::all_of(members_.begin(), members_.end(), is);
}

}  // namespace astra
