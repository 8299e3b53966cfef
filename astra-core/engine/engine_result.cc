// The part of Engine that returns results.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/time_limit.h"

namespace astra {

SimulationResult Engine::ResultOf(Actor& reported) {
  SimulationResult result;
  const auto id = static_cast<size_t>(&reported - actors_.data());
  const RankClasses& classes = communicators_.classes;
  result.reported_rank = classes.lowest_rank[id];
  result.stage_time = reported.finish;
  for (size_t i = 0; i < actors_.size(); ++i) {
    const Actor& actor = actors_[i];
    RankResult& rank = result.ranks.emplace_back();
    rank.rank = classes.lowest_rank[i];
    rank.stage = actor.stage;
    rank.count = 0;
    rank.finish = actor.finish;
    rank.slowed = actor.slowed;
    rank.kept_waiting = actor.kept_waiting;
    rank.held = actor.held;
    rank.layers = actor.layers;
    rank.exposed_in = actor.exposed;
    rank.late_in = actor.late;
    for (const auto& [key, exposure] : actor.exposures) {
      const auto [layer, phase, dimension, kind] = key;
      rank.exposures.push_back(
          {layer, phase, dimension, kind, exposure.exposed, exposure.late});
    }
    for (const auto& layer : actor.layers) {
      for (const PhaseResult& phase : layer) rank.compute += phase.compute;
    }
    for (const TimePs exposed : actor.exposed) rank.exposed += exposed;
  }
  for (const uint32_t of_rank : classes.class_of_rank) {
    ++result.ranks[of_rank].count;
  }
  result.compute = result.ranks[id].compute;
  result.slowed = reported.slowed;
  result.held = reported.held;
  result.layers = std::move(reported.layers);
  result.exposed = reported.exposed;
  result.late = reported.late;
  result.num_rank_classes = static_cast<uint32_t>(actors_.size());
  result.num_events = num_events_;
  result.has_slow_gpus = !options_.speed_changes.empty();
  return result;
}

absl::StatusOr<SimulationResult> Engine::TakeResult(const StandIn& stand_in) {
  const auto last = std::max_element(
      actors_.begin(), actors_.end(),
      [](const Actor& a, const Actor& b) { return a.finish < b.finish; });
  TimePs period;
  if (!last->repetitions.empty()) {
    const size_t end = stand_in.last[last->stage] + 1;
    for (size_t i = end - stand_in.count; i < end; ++i) {
      period += last->repetitions[i].duration;
    }
  }
  TimePs skipped;
  Add(stand_in.times, period, skipped);
  TimePs finish = last->finish;
  Add(1, skipped, finish);
  if (finish > options_.stop_at || finish == kMaxCollectiveTime) {
    has_stopped_ = options_.stop_at != kMaxCollectiveTime;
    return TooLong(options_.stop_at,
                   static_cast<double>(options_.stop_at.count()) /
                       static_cast<double>(finish.count()));
  }
  SimulationResult result = ResultOf(*last);
  result.stage_time = finish;
  for (RankResult& rank : result.ranks) rank.finish += skipped;
  TakeRecords(stand_in, skipped, result);
  TakeTimeline(stand_in, result);
  return result;
}

// Moves the timelines into `result`, with the stretch of each rank in which
// repetitions stand in.
void Engine::TakeTimeline(const StandIn& stand_in, SimulationResult& result) {
  if (!RecordsTimeline()) return;
  SkippedPart skipped;
  skipped.times = stand_in.times;
  for (Actor& actor : actors_) {
    result.timeline.ranks.push_back(std::move(actor.timeline));
    if (stand_in.times == 0) continue;
    const size_t end = stand_in.last[actor.stage] + 1;
    TimePs time;
    for (size_t i = 0; i < end; ++i) {
      if (i == end - stand_in.count) skipped.begin.push_back(time);
      time += actor.repetitions[i].duration;
    }
    skipped.end.push_back(time);
  }
  if (stand_in.times > 0) result.timeline.skipped = std::move(skipped);
}

SimulationResult Engine::TakePartialResult() {
  for (Actor& actor : actors_) {
    if (actor.state == Actor::State::kDone) continue;
    actor.finish = last_event_;
    if (actor.state == Actor::State::kRunning) continue;
    const auto lane =
        std::find_if(actor.lanes.begin(), actor.lanes.end(),
                     [](const Lane& each) { return !each.calls.empty(); });
    // A dead rank may have the results of all that it had joined.
    if (lane == actor.lanes.end()) continue;
    const LaneId first(static_cast<uint32_t>(lane - actor.lanes.begin()));
    const LaneId awaited = actor.awaited.lane.value_or(first);
    if (actor.lanes[awaited.index()].calls.empty()) continue;
    const Call& call = actor.lanes[awaited.index()].calls.front();
    const TimePs waited = last_event_ - actor.wait_began;
    actor.layers[call.layer.index()][IndexOf(call.phase)].exposed += waited;
    actor.exposed[IndexOf(call.communication.dimension)] += waited;
  }
  const auto last = std::find_if(
      actors_.begin(), actors_.end(),
      [](const Actor& actor) { return actor.state != Actor::State::kDone; });
  SimulationResult result =
      ResultOf(last == actors_.end() ? actors_.front() : *last);
  TakeRecords(StandIn(), TimePs(0), result);
  return result;
}

// Appends the records of collectives that have ended, ordered by start, group
// and issue.
void Engine::TakeRecords(const StandIn& stand_in, TimePs skipped,
                         SimulationResult& result) {
  const RankClasses& classes = communicators_.classes;
  const uint32_t reported = classes.class_of_rank[result.reported_rank.index()];
  std::vector<CollectiveRecord> records = collectives_.TakeRecords();
  std::vector<std::pair<CollectiveRecord, size_t>> kept;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!collectives_.HasEnded(i)) continue;
    CollectiveRecord& record = records[i];
    const auto [id, repetition] = ended_in_[i];
    if (stand_in.times > 0) {
      const size_t last = stand_in.last[actors_[id].stage];
      if (repetition <= last && repetition + stand_in.count > last) {
        record.count += stand_in.times;
      }
      if (repetition > last) {
        record.first_start += skipped;
        record.start += skipped;
      }
    }
    const std::vector<uint32_t>& members =
        communicators_.list[record.communicator].members;
    record.is_of_reported_rank =
        std::find(members.begin(), members.end(), reported) != members.end();
    kept.emplace_back(record, i);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.start, a.first.lowest_rank) <
           std::pair(b.first.start, b.first.lowest_rank);
  });
  std::vector<size_t> position(records.size());
  for (const auto& [record, number] : kept) {
    position[number] = result.collectives.size();
    result.collectives.push_back(record);
  }
  for (Actor& actor : actors_) {
    for (CallSpan& call : actor.timeline.calls) {
      if (call.record == CallSpan::kNoRecord) continue;
      call.record = position[call.record];
    }
  }
}

}  // namespace astra
