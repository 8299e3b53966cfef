// Draws the steps of replicas as a timeline for Perfetto or chrome://tracing.
//
//   ServingTimeline timeline;
//   RunServing(job, times, {.source = ..., .watchers = {&timeline}});
//   std::string json = std::move(timeline).Text();
//
// Each replica is a process, in order of its number, with
//
// clang-format off
//   steps       a slice for each step: prefill, decode, or mixed, with the
//               columns of steps.csv that say what it computes
//   KV blocks   used by sequences, and cached for nobody
//   sequences   running and waiting
//   tokens/s    output tokens of a step over its time
// clang-format on
//
// Counters are those of the step that begins at their time, as in steps.csv.
// They fall to 0 where a replica has no step. Times are those of steps: they do
// not contain what a request takes to its queue.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_TIMELINE_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_TIMELINE_H_

#include <cstdint>
#include <map>
#include <string>

#include "astra-core/apps/trace_events.h"
#include "astra-core/base/units.h"
#include "workload/serving/simulation.h"

namespace astra {

// Most steps of a timeline, of all replicas; a browser shows no more.
inline constexpr int64_t kMostTimelineSteps = 100'000;

class ServingTimeline : public ServingObserver {
 public:
  void OnRequest(const RequestResult&) override {}
  void OnStep(const StepRecord& step) override;
  void OnTokens(TimePs, int64_t) override {}

  // Returns the whole file, with the number of steps left out, if any, in its
  // remarks.
  std::string Text() &&;

 private:
  void AddCounters(uint64_t process, const StepRecord& step);
  void AddIdle(uint64_t process, TimePs time);

  TraceEvents events_;
  std::map<uint64_t, TimePs> ends_;  // End of the last step, by process.
  int64_t steps_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_TIMELINE_H_
