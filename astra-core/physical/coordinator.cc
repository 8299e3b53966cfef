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
constexpr std::chrono::seconds kUntilTold(2);
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
  Instant next_watch = HostClock::now();
  while (status.ok() && !has_finished_) {
    status = Step(next_watch);
    if (!status.ok() || has_finished_ || HostClock::now() < next_watch)
      continue;
    next_watch = HostClock::now() + kBetweenWatches;
    ShutOutSilent();
    status = watch(ProgressNow());
    if (status.ok()) status = CheckTime();
  }
  TellEnd(status);
  if (!status.ok()) return status;
  for (const Member& member : members_) {
    reports_.hosts.push_back(member.host);
    reports_.networks.push_back(member.network);
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
                    Guest{.link = MessageLink(std::move(entered.socket),
                                              poller_, entered.token),
                          .peer = std::move(peer),
                          .rank = std::nullopt,
                          .deadline = HostClock::now() + setting_.patience});
  }
  for (const Refused& refused : doorway_.TakeRefused()) {
    Warn(fmt::format("a connection from {} was refused: {}", refused.peer,
                     std::string(refused.why.message())));
  }
}

// Whoever keeps connecting must not fill the terminal.
void Coordinator::Warn(std::string_view text) {
  constexpr uint32_t kMostWarnings = 20;
  if (num_warnings_ == kMostWarnings) return;
  warn_(text);
  if (++num_warnings_ == kMostWarnings) {
    warn_("more connections that are refused are not reported");
  }
}

// Refuses guests that have the secret but do not say which rank they are, and
// closes the connections of guests that were refused and do not leave.
void Coordinator::ShutOutSilent() {
  const Instant now = HostClock::now();
  std::vector<uint64_t> late;
  for (const auto& [token, guest] : guests_) {
    if (!guest.rank && guest.deadline <= now) late.push_back(token);
  }
  for (const uint64_t token : late) {
    if (guests_.at(token).is_leaving) {
      guests_.erase(token);
    } else {
      Refuse(token, "it does not say which rank it is");
    }
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
  const std::optional<RankId> rank = guests_.at(token).rank;
  guests_.erase(token);
  if (!rank) return absl::OkStatus();
  members_[rank->index()].token.reset();
  if (has_finished_) return absl::OkStatus();
  return absl::AbortedError(fmt::format("{} was lost: {}", NameOf(*rank),
                                        std::string(why.message())));
}

absl::Status Coordinator::OnMessage(uint64_t token,
                                    const ControlMessage& message) {
  const std::optional<RankId> rank = guests_.at(token).rank;
  if (rank) return OnRankMessage(*rank, message);
  if (const auto* join = std::get_if<JoinMessage>(&message)) {
    return OnJoin(token, *join);
  }
  Refuse(token, "it does not say which rank it is");
  return absl::OkStatus();
}

void Coordinator::Refuse(uint64_t token, std::string_view why) {
  Guest& guest = guests_.at(token);
  Warn(fmt::format("a process on {} was refused: {}", guest.peer, why));
  guest.link.Send(Encode(AbortMessage{std::string(why)}));
  guest.is_leaving = true;
  guest.deadline = HostClock::now() + setting_.patience;
}

// Returns why a rank cannot join; "" if it can.
std::string Coordinator::WhyNot(const JoinMessage& join) const {
  if (has_finished_) return "the run is over";
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
  guests_.at(token).rank = join.rank;
  member.token = token;
  member.host = join.host;
  member.boot = join.boot;
  member.endpoint = {
      join.address.empty() ? guests_.at(token).peer : join.address, join.port};
  member.shares_clock = join.boot == boot_;
  if (!AllAre([](const Member& each) { return each.token.has_value(); })) {
    return absl::OkStatus();
  }
  ASTRA_RETURN_IF_ERROR(CheckEndpoints());
  SendRoster();
  return absl::OkStatus();
}

// A rank that reaches the coordinator over the loopback device of its host has
// an address there that means another host to ranks of other hosts.
absl::Status Coordinator::CheckEndpoints() const {
  const std::string& first = members_.front().boot;
  if (AllAre([&](const Member& each) { return each.boot == first; })) {
    return absl::OkStatus();
  }
  for (uint32_t i = 0; i < members_.size(); ++i) {
    const std::string& host = members_[i].endpoint.host;
    const bool is_loopback =
        host.rfind("127.", 0) == 0 || host == "::1" || host == "localhost";
    if (!is_loopback) continue;
    return absl::AbortedError(fmt::format(
        "{} has the address {}, at which ranks of other hosts cannot reach it: "
        "give it another with address= in the host file, or with --address",
        NameOf(RankId(i)), host));
  }
  return absl::OkStatus();
}

void Coordinator::SendRoster() {
  constexpr size_t kSessionBytes = 16;
  RosterMessage roster{.session = RandomBytes(kSessionBytes), .ranks = {}};
  for (const Member& member : members_) roster.ranks.push_back(member.endpoint);
  SendAll(roster);
  roster_sent_ = HostClock::now();
}

absl::Status Coordinator::OnRankMessage(RankId rank,
                                        const ControlMessage& message) {
  if (const auto* connected = std::get_if<ConnectedMessage>(&message)) {
    return OnConnected(rank, *connected);
  }
  if (const auto* pong = std::get_if<PongMessage>(&message)) {
    return OnPong(rank, *pong);
  }
  if (const auto* report = std::get_if<ReportMessage>(&message)) {
    return OnReport(rank, *report);
  }
  if (const auto* abort = std::get_if<AbortMessage>(&message)) {
    return absl::AbortedError(
        fmt::format("{} gave up: {}", NameOf(rank), abort->why));
  }
  return Unexpected(rank, "message");
}

absl::Status Coordinator::Unexpected(RankId rank, std::string_view what) const {
  return absl::AbortedError(
      fmt::format("{} sends a {} that does not belong here: it is no rank of "
                  "this version",
                  NameOf(rank), what));
}

absl::Status Coordinator::OnConnected(RankId rank,
                                      const ConnectedMessage& connected) {
  Member& member = members_[rank.index()];
  if (!roster_sent_ || member.is_connected) {
    return Unexpected(rank, "Connected");
  }
  member.is_connected = true;
  member.network = connected.network;
  if (AllAre([](const Member& each) { return each.is_connected; })) {
    CompareClocks();
  }
  return absl::OkStatus();
}

// Clocks drift apart, so they are compared before each iteration, which begins
// then.
void Coordinator::CompareClocks() {
  for (Member& member : members_) {
    member.clock = ClockOffset();
    member.num_pongs = member.shares_clock ? kPings : 0;
    if (!member.shares_clock) SendPing(member);
  }
  BeginIfCompared();
}

void Coordinator::BeginIfCompared() {
  if (AllAre([](const Member& each) { return each.num_pongs == kPings; })) {
    BeginIteration();
  }
}

void Coordinator::SendPing(Member& member) {
  member.pinged = Clock();
  Send(member, PingMessage{member.num_pongs});
}

absl::Status Coordinator::OnPong(RankId rank, const PongMessage& pong) {
  Member& member = members_[rank.index()];
  if (!member.pinged || pong.number != member.num_pongs) {
    return Unexpected(rank, "Pong");
  }
  member.clock.Add(*std::exchange(member.pinged, std::nullopt), pong.clock,
                   Clock());
  if (++member.num_pongs < kPings) {
    SendPing(member);
    return absl::OkStatus();
  }
  reports_.clock_error =
      std::max(reports_.clock_error, member.clock.round_trip() / 2);
  BeginIfCompared();
  return absl::OkStatus();
}

void Coordinator::BeginIteration() {
  // All ranks have heard of it by then.
  constexpr milliseconds kAhead(20);
  constexpr HostTime kPerRank(20'000);
  if (!first_iteration_) first_iteration_ = HostClock::now();
  const HostTime at = Clock() + kAhead + kPerRank * setting_.num_ranks;
  const auto iteration = static_cast<uint32_t>(reports_.iterations.size());
  is_running_ = true;
  for (Member& member : members_) {
    const HostTime offset =
        member.shares_clock ? HostTime(0) : member.clock.offset();
    Send(member, BeginMessage{.iteration = iteration, .at = at + offset});
  }
}

absl::Status Coordinator::OnReport(RankId rank, const ReportMessage& report) {
  Member& member = members_[rank.index()];
  if (!is_running_ || member.report ||
      report.iteration != reports_.iterations.size()) {
    return Unexpected(rank, "Report");
  }
  member.report = report.report;
  if (!AllAre([](const Member& each) { return each.report.has_value(); })) {
    return absl::OkStatus();
  }
  std::vector<RankReport>& all = reports_.iterations.emplace_back();
  for (Member& each : members_) {
    all.push_back(*std::move(each.report));
    each.report.reset();
  }
  is_running_ = false;
  if (reports_.iterations.size() < setting_.num_iterations) {
    CompareClocks();
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
  // Ranks that cannot connect tell more about it, and so come first.
  const Instant until = roster_sent_
                            ? *roster_sent_ + setting_.join_limit + kUntilTold
                            : begin_ + setting_.join_limit;
  if (now < until) return absl::OkStatus();
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

std::string Coordinator::NameOf(RankId rank) const {
  return fmt::format("rank {} on {}", rank, members_[rank.index()].host);
}

template <class Is>
bool Coordinator::AllAre(Is is) const {
  return std::all_of(members_.begin(), members_.end(), is);
}

}  // namespace astra
