#include "astra-core/apps/chrome_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/iteration_trace.h"
#include "astra-core/apps/trace_counters.h"
#include "astra-core/apps/trace_events.h"
#include "astra-core/apps/trace_tracks.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

enum Process : uint64_t {
  kRanks = 1,
  kCollectives = 2,
  kLinks = 3,
  kQueues = 4,
  kMemory = 5,
  kFirstOfIteration = 6,
};

// Adds slices of collectives until kMaxTraceSlices is reached.
class CollectiveSlices {
 public:
  explicit CollectiveSlices(TraceEvents& events) : events_(events) {}

  void Add(const TraceTrack& track, std::string_view name,
           const CollectiveRecord& record) {
    if (++num_slices_ > kMaxTraceSlices) return;
    events_.Slice(track, name, record.first_start, record.start + record.time,
                  {{"op", Name(record.communication.kind)},
                   {"bytes", record.communication.bytes.count()},
                   {"ranks", record.num_ranks},
                   {"algorithm", record.algorithm}});
  }

  int64_t num_left_out() const {
    return std::max<int64_t>(0, num_slices_ - kMaxTraceSlices);
  }

 private:
  TraceEvents& events_;
  int64_t num_slices_ = 0;
};

// Adds the collectives. Returns how many slices were left out.
int64_t AddCollectives(const ParallelPlan& plan, const SimulationResult& result,
                       TraceEvents& events) {
  events.NameProcess(kRanks, "ranks");
  events.NameProcess(kCollectives, "collectives");
  for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
    events.NameThread({kRanks, rank}, fmt::format("rank {}", rank));
  }
  CollectiveSlices slices(events);
  std::map<std::pair<ParallelDimension, RankId>, uint64_t> track_of_group;
  for (const CollectiveRecord& record : result.collectives) {
    const ParallelDimension dimension = record.communication.dimension;
    const auto [track, is_new] = track_of_group.try_emplace(
        {dimension, record.lowest_rank}, track_of_group.size());
    if (is_new) {
      events.NameThread({kCollectives, track->second},
                        fmt::format("{} of rank {}", Name(dimension),
                                    record.lowest_rank.index()));
    }
    const std::string& name = result.layer_names[record.layer.index()];
    slices.Add({kCollectives, track->second}, name, record);
    const uint32_t group = plan.GroupOf(dimension, record.lowest_rank);
    for (const RankId rank : plan.Ranks(dimension, group)) {
      slices.Add({kRanks, rank.index()}, name, record);
    }
  }
  return slices.num_left_out();
}

ParallelPlan PlanOf(const Program& program) {
  const absl::StatusOr<ParallelPlan> plan =
      ParallelPlan::Create(program.sizes());
  ASTRA_CHECK(plan.ok(), "{}", plan.status().ToString());
  return *plan;
}

}  // namespace

std::string ChromeTrace(const RunSubject& subject, const RunResult& run) {
  const SimulationResult& result = run.result;
  TraceEvents events;
  TraceEvents::Arguments remarks;
  if (!result.timeline.empty()) {
    const TrackNames names = subject.program != nullptr
                                 ? ProgramTracks()
                                 : TraceTracks(*subject.trace, *subject.lanes);
    remarks = AddIteration(result, {}, kFirstOfIteration, names, events);
  } else if (subject.program != nullptr) {
    remarks["slices left out"] =
        AddCollectives(PlanOf(*subject.program), result, events);
  } else {
    remarks["ranks"] = "none: the run has not finished, or is too long";
  }
  AddLinks(subject.topology, run.network, kLinks, events);
  const auto interval = subject.network.packet.record.sample_interval;
  if (interval) {
    AddQueues(subject.topology, run.network, *interval, kQueues, events);
  }
  if (run.explanation && subject.program != nullptr) {
    const int64_t left_out = AddMemory(
        *subject.program, run.explanation->memory, result, kMemory, events);
    if (left_out > 0) remarks["changes of memory left out"] = left_out;
  }
  return std::move(events).Text(remarks);
}

}  // namespace astra
