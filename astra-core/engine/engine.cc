#include "astra-core/engine/engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr TimePs kNever(std::numeric_limits<int64_t>::max());

// The end of a run that goes beyond its limit of time.
absl::Status TooLong(TimePs limit, double share_done) {
  if (limit == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(
        "the iteration would take longer than the limit of 26 days");
  }
  return absl::AbortedError(fmt::format(
      "stopped at {:.3f} us of simulated time, with {:.1f} % of the work done",
      ToMicroseconds(limit), 100 * share_done));
}

// Adds `time`, `repeats` times. No sum goes beyond the limit, where the run
// ends with an error.
void Add(int64_t repeats, TimePs time, TimePs& sum) {
  const absl::int128 exact = absl::int128(repeats) * time.count() + sum.count();
  sum = TimePs(static_cast<int64_t>(
      std::min<absl::int128>(exact, kMaxCollectiveTime.count())));
}

// Source: the 64-bit FNV-1a hash, here on whole words.
void Mix(int64_t value, uint64_t& hash) {
  constexpr uint64_t kPrime = 0x100000001b3;
  hash = (hash ^ static_cast<uint64_t>(value)) * kPrime;
  hash ^= hash >> 32;
}

}  // namespace

Engine::Engine(const RankProgram& program,
               absl::Span<const std::string> layer_names,
               const SimulationOptions& options, const CollectiveCosts& costs,
               const Communicators& communicators, CollectiveLowering& lowering,
               NetworkBackend& network)
    : layer_names_(layer_names),
      options_(options),
      communicators_(communicators),
      network_(network),
      num_ops_(program.num_ops() *
               static_cast<int64_t>(communicators.classes.lowest_rank.size())),
      collectives_(options, costs, communicators, lowering, network, timers_),
      actors_(communicators.classes.lowest_rank.size()) {
  for (Actor& actor : actors_) {
    actor.program = program.Begin();
    actor.layers.resize(layer_names.size());
  }
}

absl::Status Engine::Run() {
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    ASTRA_RETURN_IF_ERROR(Resume(id));
  }
  constexpr int64_t kEventsPerReport = 1 << 12;
  while (num_done_ < actors_.size()) {
    ASTRA_RETURN_IF_ERROR(Step());
    if (++num_events_ % kEventsPerReport == 0 && options_.on_progress) {
      options_.on_progress(ShareDone(), network_.now());
    }
  }
  return absl::OkStatus();
}

double Engine::ShareDone() const {
  return static_cast<double>(num_ops_begun_) / static_cast<double>(num_ops_);
}

// Goes to the next instant at which something happens. Arrivals come before
// timers.
absl::Status Engine::Step() {
  if (timers_.empty() && collectives_.num_flows_under_way() == 0) {
    return Silence();
  }
  const TimePs next_timer = timers_.empty() ? kNever : timers_.next().time;
  const TimePs limit = std::min(next_timer, options_.stop_at);
  if (!collectives_.AdvanceTo(limit)) {
    if (next_timer > limit) {
      const bool is_silent =
          timers_.empty() && options_.stop_at == kMaxCollectiveTime;
      if (is_silent) return Silence();
      last_event_ = options_.stop_at;
      return TooLong(options_.stop_at, ShareDone());
    }
    const Event event = timers_.Pop();
    last_event_ = network_.now();
    if (event.kind == kComputeDone) return Resume(event.index);
    collectives_.OnTimer(event);
  }
  last_event_ = network_.now();
  for (const Ended& ended : collectives_.TakeEnded()) {
    ASTRA_RETURN_IF_ERROR(EndCall(ended));
  }
  return absl::OkStatus();
}

// The rank goes on through its program until it has to wait.
absl::Status Engine::Resume(uint32_t id) {
  Actor& actor = actors_[id];
  actor.state = Actor::State::kRunning;
  while (actor.state == Actor::State::kRunning) {
    const Op op = actor.program();
    actor.repeats = op.repeats;
    switch (op.kind) {
      case OpKind::kCompute:
        ++num_ops_begun_;
        if (op.compute == TimePs(0)) break;
        Add(op.repeats, op.compute,
            actor.layers[op.layer.index()][IndexOf(op.phase)].compute);
        timers_.Push({.time = network_.now() + op.compute,
                      .kind = kComputeDone,
                      .index = id});
        return absl::OkStatus();
      case OpKind::kBlocking:
      case OpKind::kLaunch:
        ++num_ops_begun_;
        ASTRA_RETURN_IF_ERROR(CallCollective(id, op));
        break;
      case OpKind::kWait:
        Wait(actor, {IndexOf(op.communication.dimension), op.outstanding});
        break;
      case OpKind::kWaitAll:
        Wait(actor, {});
        break;
      case OpKind::kRepetition:
        EndRepetition(actor);
        break;
      case OpKind::kFinish:
        actor.state = Actor::State::kDone;
        actor.finish = network_.now();
        ++num_done_;
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::CallCollective(uint32_t id, const Op& op) {
  if (op.communication.bytes == Bytes(0)) return absl::OkStatus();
  Actor& actor = actors_[id];
  const size_t dimension = IndexOf(op.communication.dimension);
  const auto& communicator = communicators_.of_class[id][dimension];
  if (!communicator) return absl::OkStatus();  // A group of one rank.

  MixTime(actor);
  Lane& lane = actor.lanes[dimension];
  lane.calls.push_back({.communicator = *communicator,
                        .number = lane.num_calls++,
                        .layer = op.layer,
                        .phase = op.phase,
                        .communication = op.communication,
                        .update = op.update});
  if (op.kind == OpKind::kBlocking) Wait(actor, {dimension, 0});
  return lane.calls.size() == 1 ? JoinNext(id, lane) : absl::OkStatus();
}

absl::Status Engine::JoinNext(uint32_t id, Lane& lane) {
  lane.joined = network_.now();
  return collectives_.Join(id, lane.calls.front());
}

bool Engine::IsOver(const Actor& actor, const Awaited& awaited) {
  if (awaited.dimension) {
    return actor.lanes[*awaited.dimension].calls.size() <= awaited.outstanding;
  }
  return std::all_of(actor.lanes.begin(), actor.lanes.end(),
                     [](const Lane& lane) { return lane.calls.empty(); });
}

void Engine::Wait(Actor& actor, const Awaited& awaited) {
  if (IsOver(actor, awaited)) return;
  actor.state = Actor::State::kWaiting;
  actor.awaited = awaited;
  actor.wait_began = network_.now();
}

absl::Status Engine::EndCall(const Ended& ended) {
  Actor& actor = actors_[ended.member];
  const Communicator& communicator =
      communicators_.list[ended.communicator.index()];
  if (ended.member == communicator.members.front()) {
    ended_in_.resize(std::max(ended_in_.size(), ended.record + 1));
    ended_in_[ended.record] = actor.repetitions.size();
  }
  Lane& lane = actor.lanes[IndexOf(communicator.dimension)];
  const Call call = lane.calls.front();
  lane.calls.pop_front();
  if (!lane.calls.empty()) {
    ASTRA_RETURN_IF_ERROR(JoinNext(ended.member, lane));
  }
  Account(actor, call, ended);
  if (actor.state == Actor::State::kWaiting && IsOver(actor, actor.awaited)) {
    return Resume(ended.member);
  }
  return absl::OkStatus();
}

// Waiting counts for the call that ends it.
void Engine::Account(Actor& actor, const Call& call, const Ended& ended) {
  const auto& [kind, dimension, bytes] = call.communication;
  const Communicator& communicator =
      communicators_.list[ended.communicator.index()];
  const auto num_ranks = static_cast<uint32_t>(communicator.ranks.size());
  PhaseResult& phase = actor.layers[call.layer.index()][IndexOf(call.phase)];
  Add(actor.repeats, ended.network, phase.network);
  const Bytes all = actor.repeats * bytes;
  phase.bytes += all;
  phase.bus_bytes +=
      BusBandwidthFactor(kind, num_ranks) * static_cast<double>(all.count());

  MixTime(actor);
  Mix(static_cast<int64_t>(IndexOf(dimension)), actor.hash);
  const bool waits = actor.state == Actor::State::kWaiting &&
                     actor.awaited.dimension.value_or(IndexOf(dimension)) ==
                         IndexOf(dimension);
  if (!waits) return;
  const TimePs waited = network_.now() - actor.wait_began;
  Add(actor.repeats, waited, phase.exposed);
  Add(actor.repeats, waited, actor.exposed[IndexOf(dimension)]);
  actor.wait_began = network_.now();
}

void Engine::MixTime(Actor& actor) const {
  Mix((network_.now() - actor.repetition_began).count(), actor.hash);
}

void Engine::EndRepetition(Actor& actor) {
  const TimePs now = network_.now();
  for (const Lane& lane : actor.lanes) {
    Mix(static_cast<int64_t>(lane.calls.size()), actor.hash);
    if (lane.calls.empty()) continue;
    Mix((now - lane.joined).count(), actor.hash);
  }
  actor.repetitions.push_back({now - actor.repetition_began, actor.hash});
  actor.repetition_began = now;
  actor.hash = 0;
}

// Nothing is left to happen, but ranks wait: says who, for what.
absl::Status Engine::Silence() const {
  constexpr size_t kMaxNamed = 4;
  std::string who;
  size_t num_waiting = 0;
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    for (const Lane& lane : actors_[id].lanes) {
      if (lane.calls.empty()) continue;
      if (++num_waiting <= kMaxNamed) who += "; " + WhoWaits(id, lane);
    }
  }
  if (num_waiting > kMaxNamed) {
    who += fmt::format("; and {} more", num_waiting - kMaxNamed);
  }
  const std::string why = network_.WhyStuck();
  return absl::InternalError(fmt::format(
      "nothing is left to happen after {:.3f} us, but {} rank(s) wait{}{}{}",
      ToMicroseconds(last_event_), num_waiting, who,
      why.empty() ? "" : "; the network says: ", why));
}

std::string Engine::WhoWaits(uint32_t id, const Lane& lane) const {
  const Call& call = lane.calls.front();
  const Communicator& group = communicators_.list[call.communicator.index()];
  return fmt::format(
      "rank {} waits since {:.3f} us in layer {} ({}) for the {} of {} over "
      "{}, "
      "{} ranks from rank {}, which lacks {}",
      communicators_.classes.lowest_rank[id], ToMicroseconds(lane.joined),
      layer_names_[call.layer.index()], Name(call.phase),
      Name(call.communication.kind), call.communication.bytes,
      Name(call.communication.dimension), group.ranks.size(),
      group.ranks.front(), collectives_.WhatIsMissing(call.communicator));
}

SimulationResult Engine::ResultOf(Actor& reported) {
  SimulationResult result;
  const auto id = static_cast<size_t>(&reported - actors_.data());
  const RankClasses& classes = communicators_.classes;
  result.reported_rank = classes.lowest_rank[id];
  result.stage_time = reported.finish;
  for (size_t i = 0; i < actors_.size(); ++i) {
    RankResult& rank = result.ranks.emplace_back();
    rank.rank = classes.lowest_rank[i];
    rank.count = 0;
    rank.finish = actors_[i].finish;
    for (const auto& layer : actors_[i].layers) {
      for (const PhaseResult& phase : layer) rank.compute += phase.compute;
    }
    for (const TimePs exposed : actors_[i].exposed) rank.exposed += exposed;
  }
  for (const uint32_t of_rank : classes.class_of_rank) {
    ++result.ranks[of_rank].count;
  }
  result.compute = result.ranks[id].compute;
  result.layers = std::move(reported.layers);
  result.exposed = reported.exposed;
  result.num_rank_classes = static_cast<uint32_t>(actors_.size());
  result.num_events = num_events_;
  return result;
}

absl::StatusOr<SimulationResult> Engine::TakeResult(size_t stand_in,
                                                    int64_t num_skipped) {
  const auto last = std::max_element(
      actors_.begin(), actors_.end(),
      [](const Actor& a, const Actor& b) { return a.finish < b.finish; });
  TimePs micro_batch;
  if (stand_in < last->repetitions.size()) {
    micro_batch = last->repetitions[stand_in].duration;
  }
  TimePs skipped;
  Add(num_skipped, micro_batch, skipped);
  TimePs stage_time = last->finish;
  Add(1, skipped, stage_time);
  if (stage_time > options_.stop_at || stage_time == kMaxCollectiveTime) {
    return TooLong(options_.stop_at,
                   static_cast<double>(options_.stop_at.count()) /
                       static_cast<double>(stage_time.count()));
  }
  SimulationResult result = ResultOf(*last);
  result.micro_batch = micro_batch;
  result.stage_time = stage_time;
  for (RankResult& rank : result.ranks) rank.finish += skipped;
  TakeRecords(stand_in, num_skipped, skipped, result);
  return result;
}

SimulationResult Engine::TakePartialResult() {
  for (Actor& actor : actors_) {
    if (actor.state == Actor::State::kDone) continue;
    actor.finish = last_event_;
    if (actor.state == Actor::State::kRunning) continue;
    const auto lane =
        std::find_if(actor.lanes.begin(), actor.lanes.end(),
                     [](const Lane& each) { return !each.calls.empty(); });
    const auto first = static_cast<size_t>(lane - actor.lanes.begin());
    const size_t dimension = actor.awaited.dimension.value_or(first);
    const Call& call = actor.lanes[dimension].calls.front();
    const TimePs waited = last_event_ - actor.wait_began;
    actor.layers[call.layer.index()][IndexOf(call.phase)].exposed += waited;
    actor.exposed[dimension] += waited;
  }
  const auto last = std::find_if(
      actors_.begin(), actors_.end(),
      [](const Actor& actor) { return actor.state != Actor::State::kDone; });
  SimulationResult result =
      ResultOf(last == actors_.end() ? actors_.front() : *last);
  TakeRecords(0, 0, TimePs(0), result);
  return result;
}

// The records of what has ended, by start, group and issue.
void Engine::TakeRecords(size_t stand_in, int64_t num_skipped, TimePs skipped,
                         SimulationResult& result) {
  const RankClasses& classes = communicators_.classes;
  const uint32_t reported = classes.class_of_rank[result.reported_rank.index()];
  std::vector<CollectiveRecord> records = collectives_.TakeRecords();
  for (size_t i = 0; i < records.size(); ++i) {
    if (!collectives_.HasEnded(i)) continue;
    CollectiveRecord& record = records[i];
    if (ended_in_[i] == stand_in) record.count += num_skipped;
    if (ended_in_[i] > stand_in) {
      record.first_start += skipped;
      record.start += skipped;
    }
    const size_t dimension = IndexOf(record.communication.dimension);
    record.is_of_reported_rank = communicators_.of_class[reported][dimension] ==
                                 CommunicatorId(record.communicator);
    result.collectives.push_back(record);
  }
  std::stable_sort(result.collectives.begin(), result.collectives.end(),
                   [](const CollectiveRecord& a, const CollectiveRecord& b) {
                     return std::pair(a.start, a.lowest_rank) <
                            std::pair(b.start, b.lowest_rank);
                   });
}

}  // namespace astra
