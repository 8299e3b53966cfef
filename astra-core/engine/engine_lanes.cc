// The part of Engine about lanes: when calls start, and what ranks wait for.

#include <algorithm>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/time_limit.h"

namespace astra {

void Engine::StartDelay(uint32_t id, const Op& op) {
  Lane& lane = actors_[id].lanes[op.lane.index()];
  Call call;
  call.lane = op.lane;
  call.number = lane.num_calls++;
  call.layer = op.layer;
  call.phase = op.phase;
  call.issued = collectives_.now();
  call.after = op.after;
  call.delay = options_.ideal_compute ? TimePs(0) : op.compute;
  lane.calls.push_back(call);
}

// Starts the call that has just come to the lane, if the lane is free.
absl::Status Engine::TryNext(uint32_t id, LaneId lane) {
  return actors_[id].lanes[lane.index()].calls.size() == 1
             ? JoinNext(id, lane, CallSpan::kNone)
             : absl::OkStatus();
}

// Starts the first call of the lane, or remembers that it has to wait for other
// lanes. `cause` is the number of the call that has just ended, if one has.
absl::Status Engine::JoinNext(uint32_t id, LaneId lane_id, uint32_t cause) {
  Actor& actor = actors_[id];
  Lane& lane = actor.lanes[lane_id.index()];
  const Call& call = lane.calls.front();
  for (const LaneProgress& other : call.after) {
    if (IsOver(actor, {other.lane, 0, other.ended})) continue;
    actor.blocked.push_back(lane_id);
    return absl::OkStatus();
  }
  lane.joined = collectives_.now();
  lane.cause = cause;
  if (!call.delay) return collectives_.Join(id, call);
  timers_.Push({.time = lane.joined + *call.delay,
                .kind = kDelayDone,
                .index = id * communicators_.num_lanes + lane_id.index()});
  return absl::OkStatus();
}

// A call of the rank has ended, for which others may have waited.
absl::Status Engine::TryBlocked(uint32_t id, uint32_t cause) {
  for (const LaneId lane : std::exchange(actors_[id].blocked, {})) {
    ASTRA_RETURN_IF_ERROR(JoinNext(id, lane, cause));
  }
  return absl::OkStatus();
}

bool Engine::IsBlocked(const Actor& actor, LaneId lane) {
  return std::find(actor.blocked.begin(), actor.blocked.end(), lane) !=
         actor.blocked.end();
}

absl::Status Engine::EndDelay(uint32_t index) {
  const uint32_t id = index / communicators_.num_lanes;
  const LaneId lane_id(index % communicators_.num_lanes);
  Actor& actor = actors_[id];
  Lane& lane = actor.lanes[lane_id.index()];
  const Call call = lane.calls.front();
  const CallSpan span = {.role = CallRole::kDelay,
                         .phase = call.phase,
                         .layer = call.layer,
                         .lane = lane_id,
                         .issued = call.issued,
                         .joined = lane.joined,
                         .start = lane.joined,
                         .result = collectives_.now(),
                         .last_member = id,
                         .cause = lane.cause};
  lane.calls.pop_front();
  work_done_ += actor.num_ranks;
  const uint32_t number = RecordCall(actor, span);
  if (!lane.calls.empty()) {
    ASTRA_RETURN_IF_ERROR(JoinNext(id, lane_id, number));
  }
  ASTRA_RETURN_IF_ERROR(TryBlocked(id, number));
  if (actor.state != Actor::State::kWaiting) return absl::OkStatus();
  if (WaitsFor(actor, lane_id)) {
    RecordWait(actor, span, number);
    Add(actor.repeats, collectives_.now() - actor.wait_began, actor.held);
    actor.wait_began = collectives_.now();
  }
  return IsOver(actor, actor.awaited) ? Resume(id) : absl::OkStatus();
}

bool Engine::WaitsFor(const Actor& actor, LaneId lane) {
  return actor.state == Actor::State::kWaiting &&
         actor.awaited.lane.value_or(lane) == lane;
}

// Returns the number of the call in the timeline; kNone if none is kept.
uint32_t Engine::RecordCall(Actor& actor, const CallSpan& span) const {
  if (!RecordsTimeline()) return CallSpan::kNone;
  actor.timeline.calls.push_back(span);
  return static_cast<uint32_t>(actor.timeline.calls.size() - 1);
}

// Records that the rank waited for the call `number` until now.
void Engine::RecordWait(Actor& actor, const CallSpan& span,
                        uint32_t number) const {
  if (!RecordsTimeline() || actor.wait_began == collectives_.now()) return;
  actor.timeline.spans.push_back({.begin = actor.wait_began,
                                  .end = collectives_.now(),
                                  .layer = span.layer,
                                  .phase = span.phase,
                                  .chunk = span.chunk,
                                  .micro_batch = span.micro_batch,
                                  .call = number,
                                  .slowed = {}});
}

bool Engine::IsOver(const Actor& actor, const Awaited& awaited) {
  if (awaited.lane) {
    const Lane& lane = actor.lanes[awaited.lane->index()];
    if (lane.calls.empty()) return true;  // Or the group has one rank.
    return awaited.ended > 0
               ? lane.num_calls - lane.calls.size() >= awaited.ended
               : lane.calls.size() <= awaited.outstanding;
  }
  return std::all_of(actor.lanes.begin(), actor.lanes.end(),
                     [](const Lane& lane) { return lane.calls.empty(); });
}

void Engine::Wait(Actor& actor, const Awaited& awaited) {
  if (IsOver(actor, awaited)) return;
  actor.state = Actor::State::kWaiting;
  actor.awaited = awaited;
  actor.wait_began = collectives_.now();
}

}  // namespace astra
