#include "astra-core/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/time_limit.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Source: the 64-bit FNV-1a hash, here on whole words; it starts at kHashBasis.
void Mix(int64_t value, uint64_t& hash) {
  constexpr uint64_t kPrime = 0x100000001b3;
  hash = (hash ^ static_cast<uint64_t>(value)) * kPrime;
  hash ^= hash >> 32;
}

}  // namespace

Engine::Engine(const RankProgram& program,
               absl::Span<const std::string> layer_names,
               const SimulationOptions& options,
               const Communicators& communicators, EventQueue& timers,
               CollectiveService& collectives)
    : layer_names_(layer_names),
      options_(options),
      communicators_(communicators),
      slowdown_(options.communication_slowdown.value_or(0)),
      timers_(timers),
      collectives_(collectives),
      actors_(communicators.classes.lowest_rank.size()) {
  for (const uint32_t id : communicators.classes.class_of_rank) {
    ++actors_[id].num_ranks;
  }
  std::vector<int64_t> work(program.num_stages(), -1);
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    Actor& actor = actors_[id];
    actor.stage = communicators.classes.stage[id];
    actor.program = program.Begin(actor.stage);
    actor.lanes.resize(communicators.num_lanes);
    actor.layers.resize(layer_names.size());
    if (work[actor.stage] < 0) work[actor.stage] = CountWork(program, id);
    num_ops_ += work[actor.stage];
    all_work_ += actor.num_ranks * work[actor.stage];
  }
  for (uint32_t i = 0; i < options.speed_changes.size(); ++i) {
    const TimePs time = options.speed_changes[i].time;
    timers_.Push({.time = time, .kind = kSpeedChanged, .index = i});
  }
}

absl::Status Engine::Begin() {
  collectives_.set_watch([this] { return ReportProgress(); });
  ASTRA_RETURN_IF_ERROR(ReportProgress());
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    ASTRA_RETURN_IF_ERROR(Resume(id));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Engine::Run() {
  if (!std::exchange(has_begun_, true)) ASTRA_RETURN_IF_ERROR(Begin());
  while (num_done_ < actors_.size()) {
    ASTRA_RETURN_IF_ERROR(Step());
    if (paused_until_) return false;
    if (pace_.IsDue()) ASTRA_RETURN_IF_ERROR(ReportProgress());
  }
  collectives_.Finish();
  return true;
}

absl::Status Engine::ReportProgress() {
  if (!options_.on_progress) return absl::OkStatus();
  WorkDone work = collectives_.work();
  work.events += static_cast<uint64_t>(num_events_);
  absl::Status status =
      options_.on_progress({ShareDone(), collectives_.now(), work});
  if (!status.ok()) last_event_ = collectives_.now();
  return status;
}

double Engine::ShareDone() const {
  if (all_work_ == 0) return 1;  // The ranks have nothing to do.
  return static_cast<double>(work_done_) / static_cast<double>(all_work_);
}

// Whether the operation does something that ends. Calls without bytes, or in a
// group of one rank, do not.
bool Engine::IsWork(uint32_t id, const Op& op) const {
  switch (op.kind) {
    case OpKind::kCompute:
    case OpKind::kDelay:
      return true;
    case OpKind::kBlocking:
    case OpKind::kLaunch:
      return op.communication.bytes > Bytes(0) &&
             communicators_.of_class[id][op.lane.index()].has_value();
    case OpKind::kWait:
    case OpKind::kWaitAll:
    case OpKind::kRepetition:
    case OpKind::kFinish:
      break;
  }
  return false;
}

int64_t Engine::CountWork(const RankProgram& program, uint32_t id) const {
  int64_t count = 0;
  const OpStream next = program.Begin(actors_[id].stage);
  for (Op op = next(); op.kind != OpKind::kFinish; op = next()) {
    count += static_cast<int64_t>(IsWork(id, op));
  }
  return count;
}

// Advances to the next instant at which something happens. Arrivals come before
// timers.
absl::Status Engine::Step() {
  if (timers_.empty() && !collectives_.has_any_under_way()) {
    return Silence();
  }
  const TimePs next_timer = timers_.empty() ? kNever : timers_.next().time;
  const TimePs limit =
      std::exchange(paused_until_, std::nullopt)
          .value_or(std::min({next_timer, options_.stop_at,
                              collectives_.now() + slice_.length()}));
  ASTRA_ASSIGN_OR_RETURN(const bool has_ended, collectives_.AdvanceTo(limit));
  if (!has_ended) {
    if (collectives_.now() < limit) {
      paused_until_ = limit;
      return absl::OkStatus();
    }
    if (limit < std::min(next_timer, options_.stop_at)) {
      slice_.Adapt();
      return ReportProgress();
    }
    if (next_timer > limit) {
      const bool is_silent =
          timers_.empty() && options_.stop_at == kMaxCollectiveTime;
      if (is_silent) return Silence();
      last_event_ = options_.stop_at;
      has_stopped_ = true;
      return TooLong(options_.stop_at, ShareDone());
    }
    const Event event = timers_.Pop();
    if (event.kind == kSpeedChanged) {
      TakeSpeedChange(event.index);
      return absl::OkStatus();
    }
    last_event_ = collectives_.now();
    ++num_events_;
    if (event.kind == kComputeDone) {
      EndComputation(event.index);
      return Resume(event.index);
    }
    if (event.kind == kDelayDone) return EndDelay(event.index);
    ASTRA_RETURN_IF_ERROR(collectives_.OnTimer(event));
  } else {
    last_event_ = collectives_.now();
    ++num_events_;
  }
  for (const Ended& ended : collectives_.TakeEnded()) {
    ASTRA_RETURN_IF_ERROR(EndCall(ended));
  }
  return absl::OkStatus();
}

// Runs the program of the rank until the rank has to wait.
absl::Status Engine::Resume(uint32_t id) {
  Actor& actor = actors_[id];
  if (actor.speed == 0) return absl::OkStatus();
  actor.state = Actor::State::kRunning;
  while (actor.state == Actor::State::kRunning) {
    const Op op = actor.program();
    actor.repeats = op.repeats;
    switch (op.kind) {
      case OpKind::kCompute:
        Compute(id, op);
        if (actor.computation) return absl::OkStatus();
        work_done_ += actor.num_ranks;
        break;
      case OpKind::kBlocking:
      case OpKind::kLaunch:
        ASTRA_RETURN_IF_ERROR(CallCollective(id, op));
        break;
      case OpKind::kDelay:
        StartDelay(id, op);
        ASTRA_RETURN_IF_ERROR(TryNext(id, op.lane));
        break;
      case OpKind::kWait:
        Wait(actor, {op.lane, op.outstanding, op.ended});
        break;
      case OpKind::kWaitAll:
        Wait(actor, {});
        break;
      case OpKind::kRepetition:
        EndRepetition(actor);
        break;
      case OpKind::kFinish:
        actor.state = Actor::State::kDone;
        actor.finish = collectives_.now();
        ++num_done_;
        break;
    }
  }
  return absl::OkStatus();
}

// Starts a computation, unless it takes no time.
void Engine::Compute(uint32_t id, const Op& op) {
  Actor& actor = actors_[id];
  const TimePs work = WorkOf(id, op);
  ++actor.num_computations;
  if (work == TimePs(0)) return;
  const TimePs now = collectives_.now();
  Add(op.repeats, work,
      actor.layers[op.layer.index()][IndexOf(op.phase)].compute);
  actor.computation = {.op = op,
                       .began = now,
                       .work = work,
                       .left = work,
                       .since = now,
                       .ends = {},
                       .speed = SpeedOf(actor)};
  SetTimer(id);
}

// Returns the time of `op` at full speed. Jitter adds a share that is drawn for
// the rank and the operation, exponentially distributed: most operations take
// little longer and some much.
TimePs Engine::WorkOf(uint32_t id, const Op& op) const {
  if (options_.ideal_compute) return TimePs(0);
  if (options_.jitter == 0) return op.compute;
  const uint64_t draw =
      HashOf(options_.seed, communicators_.classes.lowest_rank[id].index(),
             actors_[id].num_computations);
  const double share = -options_.jitter * std::log1p(-UnitInterval(draw));
  return op.compute + ShareOf(share, op.compute);
}

// Returns the speed at which the rank computes now. A collective that is under
// way slows it; messages between stages need few SMs and do not count.
double Engine::SpeedOf(const Actor& actor) const {
  if (slowdown_ == 0) return actor.speed;
  const auto first = actor.lanes.begin();
  const bool is_slowed =
      std::any_of(first, first + communicators_.num_slowing_lanes,
                  [](const Lane& lane) { return !lane.calls.empty(); });
  return is_slowed ? actor.speed * (1 - slowdown_) : actor.speed;
}

// Sets the timer for the end of the computation at its present speed. That of a
// dead rank never ends.
void Engine::SetTimer(uint32_t id) {
  Computation& computation = *actors_[id].computation;
  if (computation.speed == 0) {
    computation.ends = kNever;
    return;
  }
  TimePs time = computation.left;
  if (computation.speed != 1) {
    time = TimePs(
        std::llround(static_cast<double>(time.count()) / computation.speed));
  }
  computation.ends = collectives_.now() + time;
  timers_.Push({.time = computation.ends, .kind = kComputeDone, .index = id});
}

// Adapts the speed of the computation to the rank and its collectives.
void Engine::ChangeSpeed(uint32_t id) {
  Actor& actor = actors_[id];
  if (!actor.computation) return;
  Computation& computation = *actor.computation;
  const double speed = SpeedOf(actor);
  const TimePs now = collectives_.now();
  if (speed == computation.speed || computation.ends == now) return;
  timers_.Cancel({.time = computation.ends, .kind = kComputeDone, .index = id});
  TimePs done = now - computation.since;
  if (computation.speed != 1) done = ShareOf(computation.speed, done);
  computation.left = std::max(TimePs(0), computation.left - done);
  computation.since = now;
  computation.speed = speed;
  SetTimer(id);
}

// The dead stay dead.
void Engine::TakeSpeedChange(uint32_t index) {
  const SpeedChange& change = options_.speed_changes[index];
  const uint32_t id = communicators_.classes.class_of_rank[change.rank.index()];
  if (actors_[id].speed == 0) return;
  actors_[id].speed = change.speed;
  ChangeSpeed(id);
}

void Engine::EndComputation(uint32_t id) {
  Actor& actor = actors_[id];
  const Computation& computation = *actor.computation;
  const TimePs now = collectives_.now();
  const TimePs slowed = now - computation.began - computation.work;
  Add(computation.op.repeats, slowed, actor.slowed);
  work_done_ += actor.num_ranks;
  if (RecordsTimeline()) {
    const Op& op = computation.op;
    actor.timeline.spans.push_back({.begin = computation.began,
                                    .end = now,
                                    .layer = op.layer,
                                    .phase = op.phase,
                                    .chunk = op.chunk,
                                    .micro_batch = op.micro_batch,
                                    .call = Span::kNoCall,
                                    .slowed = slowed});
  }
  actor.computation.reset();
}

absl::Status Engine::CallCollective(uint32_t id, const Op& op) {
  if (!IsWork(id, op)) return absl::OkStatus();
  Actor& actor = actors_[id];
  MixTime(actor);
  Lane& lane = actor.lanes[op.lane.index()];
  lane.calls.push_back(
      {.communicator = *communicators_.of_class[id][op.lane.index()],
       .lane = op.lane,
       .number = lane.num_calls++,
       .layer = op.layer,
       .phase = op.phase,
       .communication = op.communication,
       .update = op.update,
       .issued = collectives_.now(),
       .chunk = op.chunk,
       .micro_batch = op.micro_batch,
       .after = op.after});
  if (op.kind == OpKind::kBlocking) Wait(actor, {op.lane, 0});
  return TryNext(id, op.lane);
}

CallSpan Engine::SpanOf(const Communicator& communicator, const Call& call,
                        const Lane& lane, const Ended& ended) const {
  const bool is_message =
      call.communication.dimension == ParallelDimension::kPipeline;
  const bool is_first = communicator.members.front() == ended.member;
  return {.record = ended.record,
          .role = !is_message ? CallRole::kMember
                  : is_first  ? CallRole::kSender
                              : CallRole::kReceiver,
          .phase = call.phase,
          .layer = call.layer,
          .lane = call.lane,
          .chunk = call.chunk,
          .micro_batch = call.micro_batch,
          .issued = call.issued,
          .joined = lane.joined,
          .start = ended.start,
          .result = collectives_.now(),
          .last_member = ended.last_member,
          .cause = lane.cause};
}

absl::Status Engine::EndCall(const Ended& ended) {
  Actor& actor = actors_[ended.member];
  const Communicator& communicator =
      communicators_.list[ended.communicator.index()];
  if (ended.member == communicator.members.front()) {
    ended_in_.resize(std::max(ended_in_.size(), ended.record + 1));
    ended_in_[ended.record] = {ended.member, actor.repetitions.size()};
  }
  const LaneId lane_id = communicator.LaneOfMember(ended.member);
  Lane& lane = actor.lanes[lane_id.index()];
  const Call call = lane.calls.front();
  const CallSpan span = SpanOf(communicator, call, lane, ended);
  lane.calls.pop_front();
  actor.longest_call =
      std::max(actor.longest_call, collectives_.now() - call.issued);
  work_done_ += actor.num_ranks;
  const uint32_t number = RecordCall(actor, span);
  if (!lane.calls.empty()) {
    ASTRA_RETURN_IF_ERROR(JoinNext(ended.member, lane_id, number));
  }
  ASTRA_RETURN_IF_ERROR(TryBlocked(ended.member, number));
  Account(actor, call, ended);
  if (WaitsFor(actor, lane_id)) {
    RecordWait(actor, span, number);
    actor.wait_began = collectives_.now();
  }
  ChangeSpeed(ended.member);
  if (actor.state == Actor::State::kWaiting && IsOver(actor, actor.awaited)) {
    return Resume(ended.member);
  }
  return absl::OkStatus();
}

// Adds waiting time to the call that ended the wait. The part before the last
// member had joined is `late`: other ranks caused it.
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
  Mix(static_cast<int64_t>(call.lane.index()), actor.hash);
  if (!WaitsFor(actor, call.lane)) return;
  const TimePs now = collectives_.now();
  const TimePs waited = now - actor.wait_began;
  const TimePs late =
      std::clamp(ended.start - actor.wait_began, TimePs(0), waited);
  Add(actor.repeats, late, actors_[ended.last_member].kept_waiting);
  Expose(actor, call, waited, late);
}

void Engine::Expose(Actor& actor, const Call& call, TimePs waited,
                    TimePs late) {
  const auto& [kind, dimension, _] = call.communication;
  PhaseResult& phase = actor.layers[call.layer.index()][IndexOf(call.phase)];
  Add(actor.repeats, waited, phase.exposed);
  Add(actor.repeats, late, phase.late);
  Add(actor.repeats, waited, actor.exposed[IndexOf(dimension)]);
  Add(actor.repeats, late, actor.late[IndexOf(dimension)]);
  Exposure& exposure =
      actor.exposures[{call.layer, call.phase, dimension, kind}];
  Add(actor.repeats, waited, exposure.exposed);
  Add(actor.repeats, late, exposure.late);
}

void Engine::MixTime(Actor& actor) const {
  Mix((collectives_.now() - actor.repetition_began).count(), actor.hash);
}

void Engine::EndRepetition(Actor& actor) {
  const TimePs now = collectives_.now();
  TimePs oldest_call;
  for (const Lane& lane : actor.lanes) {
    Mix(static_cast<int64_t>(lane.calls.size()), actor.hash);
    if (lane.calls.empty()) continue;
    const TimePs issued = lane.calls.front().issued;
    if (issued < actor.repetition_began) {
      oldest_call = std::max(oldest_call, now - issued);
    }
    Mix((now - lane.joined).count(), actor.hash);
    // Outstanding calls must be the same, not only as many.
    for (const Call& call : lane.calls) {
      Mix(static_cast<int64_t>(call.communication.kind), actor.hash);
      Mix(call.communication.bytes.count(), actor.hash);
      Mix(call.update.count(), actor.hash);
    }
  }
  actor.repetitions.push_back({.duration = now - actor.repetition_began,
                               .hash = actor.hash,
                               .longest_call = actor.longest_call,
                               .oldest_call = oldest_call});
  actor.repetition_began = now;
  actor.hash = kHashBasis;
  actor.longest_call = TimePs(0);
}

}  // namespace astra
