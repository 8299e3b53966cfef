// Records what replicas hold and give over time, in a few hundred bins of equal
// width however long a run is.
//
//   LoadSeries series;
//   RunServing(job, times, {.source = ..., .watchers = {&series}});
//   for (const LoadBin& bin : series.Bins()) ...
//
// A bin has the mean over its time of what the steps in it had when they began,
// summed over all replicas; a replica without a step counts as empty. A token
// counts at the end of its step. Bins begin 2^30 ps wide, and are joined in
// pairs where time passes the last of them.

#ifndef ASTRA_CORE_APPS_SERVING_LOAD_SERIES_H_
#define ASTRA_CORE_APPS_SERVING_LOAD_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/serving/simulation.h"

namespace astra {

inline constexpr size_t kMostLoadBins = 256;

struct LoadBin {
  double begin_s = 0;
  double running = 0;  // Sequences.
  double waiting = 0;
  double kv_use = 0;  // Share of the blocks of all replicas that took a step.
  double output_tokens_per_s = 0;
};

class LoadSeries : public ServingObserver {
 public:
  void OnRequest(const RequestResult&) override {}
  void OnStep(const StepRecord& step) override;
  void OnTokens(TimePs, int64_t) override {}

  // Returns the bins from time 0 to the end of the last step, where the last
  // one ends too; none without a step.
  std::vector<LoadBin> Bins() const;

 private:
  // Sums over the time of a bin, in ps times a quantity.
  struct Sums {
    double running = 0;
    double waiting = 0;
    double used_blocks = 0;
    double tokens = 0;  // Not times the time.
  };

  void WidenUntil(int64_t end);

  std::vector<Sums> bins_;
  int64_t width_ = int64_t{1} << 30;  // ps.
  int64_t end_ = 0;                   // Of the last step, in ps.
  std::vector<int64_t> blocks_;       // Of the caches, by replica.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_LOAD_SERIES_H_
