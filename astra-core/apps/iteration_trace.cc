#include "astra-core/apps/iteration_trace.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/engine/rank_program.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr uint64_t kComputation = 0;  // Its thread; lanes follow.

using Arguments = TraceEvents::Arguments;

uint64_t ThreadOf(LaneId lane) { return 1 + lane.index(); }

std::string NameOfLane(LaneId lane) {
  if (lane.index() < kNumParallelDimensions) {
    return std::string(Name(kParallelDimensions[lane.index()]));
  }
  constexpr std::string_view kNames[kNumStageMessages] = {
      "sends activations", "receives activations", "sends gradients",
      "receives gradients"};
  const size_t behind = lane.index() - kNumParallelDimensions;
  return fmt::format("PP {}, chunk {}", kNames[behind % kNumStageMessages],
                     behind / kNumStageMessages);
}

// Returns at most `max` ranks from all stages: every n-th stage, and every n-th
// rank of each such stage.
std::vector<uint32_t> RanksToShow(const SimulationResult& result,
                                  uint32_t max) {
  std::map<uint32_t, std::vector<uint32_t>> of_stage;
  for (uint32_t i = 0; i < result.ranks.size(); ++i) {
    of_stage[result.ranks[i].stage].push_back(i);
  }
  const auto num_stages = static_cast<uint32_t>(of_stage.size());
  const uint32_t shown_stages = std::min(max, num_stages);
  std::vector<uint32_t> shown;
  uint32_t stage = 0;
  for (const auto& [_, ranks] : of_stage) {
    // The i-th stage that is shown has the number i num_stages / shown_stages.
    const bool is_shown = stage * shown_stages % num_stages < shown_stages;
    ++stage;
    if (!is_shown) continue;
    const auto num_ranks = static_cast<uint32_t>(ranks.size());
    const uint32_t count = std::min(max / shown_stages, num_ranks);
    for (uint32_t i = 0; i < count; ++i) {
      shown.push_back(ranks[uint64_t{i} * num_ranks / count]);
    }
  }
  return shown;
}

// Adds the processes of a result to a trace.
class IterationTracks {
 public:
  IterationTracks(const SimulationResult& result, const TraceLimits& limits,
                  uint64_t first_process, const TrackNames& names,
                  TraceEvents& events)
      : result_(result),
        first_process_(first_process),
        names_(names),
        events_(events),
        shown_(RanksToShow(result, limits.max_ranks)) {
    FindEnd(static_cast<size_t>(limits.max_slices));
  }

  void Add() {
    for (const uint32_t rank : shown_) AddRank(rank);
    for (const uint32_t rank : shown_) AddArrowsTo(rank);
  }

  Arguments Remarks() const {
    Arguments remarks;
    const RankResult& last = result_.ranks.back();
    if (shown_.size() < result_.ranks.size()) {
      remarks["ranks"] =
          fmt::format("{} of {} classes, up to rank {}", shown_.size(),
                      result_.ranks.size(), last.rank.index());
    }
    remarks["slices left out"] = num_left_out_;
    if (num_left_out_ > 0) {
      remarks["shown until"] = fmt::format("{:.6f} us", ToMicroseconds(end_));
    }
    if (result_.timeline.skipped) {
      remarks["repetitions left out"] = Skipped();
    }
    return remarks;
  }

 private:
  const RankTimeline& TimelineOf(uint32_t rank) const {
    return result_.timeline.ranks[rank];
  }
  TraceTrack TrackOf(uint32_t rank, uint64_t thread) const {
    return {first_process_ + rank, thread};
  }

  // Returns when a call begins to be drawn. A message is drawn from its start,
  // since receives are ready long before.
  static TimePs BeginOf(const CallSpan& call) {
    return call.is_message() ? call.start : call.joined;
  }

  // Sets the time from which on slices are left out, so that at most `max` are
  // left.
  void FindEnd(size_t max) {
    std::vector<TimePs> begins;
    for (const uint32_t rank : shown_) {
      for (const Span& span : TimelineOf(rank).spans) {
        begins.push_back(span.begin);
      }
      for (const CallSpan& call : TimelineOf(rank).calls) {
        begins.push_back(BeginOf(call));
      }
    }
    if (begins.size() <= max) return;
    const auto limit = begins.begin() + static_cast<ptrdiff_t>(max);
    std::nth_element(begins.begin(), limit, begins.end());
    end_ = *limit;
    num_left_out_ = std::count_if(begins.begin(), begins.end(),
                                  [&](TimePs begin) { return begin >= end_; });
  }

  std::string Skipped() const {
    const SkippedPart& skipped = *result_.timeline.skipped;
    return fmt::format("{} more of {:.6f} us", skipped.times,
                       ToMicroseconds(skipped.end[0] - skipped.begin[0]));
  }

  void AddRank(uint32_t number) {
    const RankResult& rank = result_.ranks[number];
    std::string name = names_.rank(rank);
    if (rank.count > 1) name += fmt::format(" and {} alike", rank.count - 1);
    events_.NameProcess(first_process_ + number, name);
    events_.NameThread(TrackOf(number, kComputation), "computation");
    std::set<LaneId> lanes;
    for (const CallSpan& call : TimelineOf(number).calls) {
      if (lanes.insert(call.lane).second) {
        events_.NameThread(TrackOf(number, ThreadOf(call.lane)),
                           names_.lane(rank, call.lane));
      }
    }
    for (const Span& span : TimelineOf(number).spans) AddSpan(number, span);
    for (const CallSpan& call : TimelineOf(number).calls) AddCall(number, call);
    if (result_.timeline.skipped) {
      events_.Mark(TrackOf(number, kComputation), "left out: " + Skipped(),
                   result_.timeline.skipped->end[number]);
    }
  }

  static Arguments MicroBatch(Phase phase, int32_t chunk, int32_t micro_batch) {
    Arguments arguments = {{"phase", Name(phase)}};
    if (chunk >= 0) arguments["chunk"] = chunk;
    if (micro_batch >= 0) arguments["micro-batch"] = micro_batch;
    return arguments;
  }

  void AddSpan(uint32_t number, const Span& span) {
    if (span.begin >= end_) return;
    Arguments arguments = MicroBatch(span.phase, span.chunk, span.micro_batch);
    std::string name = result_.layer_names[span.layer.index()];
    if (span.is_wait()) {
      const CallSpan& call = TimelineOf(number).calls[span.call];
      AddCause(number, call, arguments);
      arguments["for"] = fmt::format("{} of {}", KindOf(number, call), name);
      name = "wait";
    } else if (span.slowed > TimePs(0)) {
      arguments["slowed us"] = ToMicroseconds(span.slowed);
    }
    events_.Slice(TrackOf(number, kComputation), name, span.begin, span.end,
                  arguments, span.is_wait());
  }

  // Returns text such as "all-reduce over DP", or "CPU".
  std::string KindOf(uint32_t number, const CallSpan& call) const {
    if (call.role == CallRole::kDelay) {
      return names_.lane(result_.ranks[number], call.lane);
    }
    const Communication& what = OfRecord(call).communication;
    return fmt::format("{} over {}", Name(what.kind), Name(what.dimension));
  }

  void AddCall(uint32_t number, const CallSpan& call) {
    if (BeginOf(call) >= end_) return;
    Arguments arguments = MicroBatch(call.phase, call.chunk, call.micro_batch);
    if (call.role != CallRole::kDelay) {
      const CollectiveRecord& record = OfRecord(call);
      arguments["op"] = Name(record.communication.kind);
      arguments["bytes"] = record.communication.bytes.count();
      arguments["ranks"] = record.num_ranks;
      arguments["algorithm"] = record.algorithm;
      if (record.protocol != "-") arguments["protocol"] = record.protocol;
    }
    AddCause(number, call, arguments);
    events_.Slice(TrackOf(number, ThreadOf(call.lane)),
                  result_.layer_names[call.layer.index()], BeginOf(call),
                  call.result, arguments);
  }

  // Adds until when a call waited for others, and which rank joined last.
  void AddCause(uint32_t number, const CallSpan& call,
                Arguments& arguments) const {
    if (call.last_member == number) return;
    arguments["waited for rank"] = result_.ranks[call.last_member].rank.index();
    arguments["until us"] = ToMicroseconds(call.start);
  }

  const CollectiveRecord& OfRecord(const CallSpan& call) const {
    return result_.collectives[call.record];
  }

  // Adds arrows from the place of sending, if it is shown, to the middle of
  // each message.
  void AddArrowsTo(uint32_t receiver) {
    if (sends_.empty()) FindSends();
    for (const CallSpan& call : TimelineOf(receiver).calls) {
      if (call.role != CallRole::kReceiver || call.start >= end_) continue;
      const auto sent = sends_.find(call.record);
      if (sent == sends_.end() || call.result == call.start) continue;
      const auto& [sender, lane] = sent->second;
      events_.Arrow(call.record, TrackOf(sender, ThreadOf(lane)), call.start,
                    TrackOf(receiver, ThreadOf(call.lane)),
                    TimePs((call.start.count() + call.result.count()) / 2));
    }
  }

  void FindSends() {
    for (const uint32_t rank : shown_) {
      for (const CallSpan& call : TimelineOf(rank).calls) {
        if (call.role != CallRole::kSender) continue;
        sends_[call.record] = {rank, call.lane};
      }
    }
  }

  const SimulationResult& result_;
  const uint64_t first_process_;
  const TrackNames& names_;
  TraceEvents& events_;
  const std::vector<uint32_t> shown_;
  TimePs end_{std::numeric_limits<int64_t>::max()};
  int64_t num_left_out_ = 0;
  // By record: the rank that sent the message, and the lane of the rank.
  std::map<size_t, std::pair<uint32_t, LaneId>> sends_;
};

}  // namespace

TrackNames ProgramTracks() {
  return {
      .rank =
          [](const RankResult& rank) {
            return fmt::format("stage {} rank {}", rank.stage,
                               rank.rank.index());
          },
      .lane = [](const RankResult&, LaneId lane) { return NameOfLane(lane); }};
}

TraceEvents::Arguments AddIteration(const SimulationResult& result,
                                    const TraceLimits& limits,
                                    uint64_t first_process,
                                    const TrackNames& names,
                                    TraceEvents& events) {
  ASTRA_CHECK(!result.timeline.empty(), "no timeline");
  IterationTracks tracks(result, limits, first_process, names, events);
  tracks.Add();
  return tracks.Remarks();
}

std::string IterationTrace(const SimulationResult& result,
                           const TraceLimits& limits) {
  TraceEvents events;
  const TraceEvents::Arguments remarks =
      AddIteration(result, limits, 0, ProgramTracks(), events);
  return std::move(events).Text(remarks);
}

std::string DescribeSkipped(const SimulationResult& result) {
  if (!result.timeline.skipped) return "";
  const SkippedPart& skipped = *result.timeline.skipped;
  TimePs end;
  for (const RankTimeline& rank : result.timeline.ranks) {
    if (!rank.spans.empty()) end = std::max(end, rank.spans.back().end);
  }
  constexpr double kMsPerUs = 1e-3;
  return fmt::format(
      "trace      ends at {:.3f} of {:.3f} ms: {} repetitions of {:.3f} ms are "
      "left out; --unroll has them\n",
      ToMicroseconds(end) * kMsPerUs, ToMicroseconds(result.total()) * kMsPerUs,
      skipped.times,
      ToMicroseconds(skipped.end[0] - skipped.begin[0]) * kMsPerUs);
}

}  // namespace astra
