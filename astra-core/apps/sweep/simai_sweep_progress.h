// What simai_sweep says while and after it runs points: lines for people, or
// JSON objects for programs.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRESS_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/sweep/simai_sweep_options.h"
#include "astra-core/apps/sweep/simai_sweep_plan.h"
#include "astra-core/base/progress.h"
#include "astra-core/sweep/execution/point_record.h"

namespace astra {

// Something that a person may want to know: a line, or a JSON object.
void PrintNote(std::string_view note, SweepOutput output);

// How a run ended.
struct SweepEnd {
  std::string_view how;  // "finished".
  absl::Status status;   // Why, if it is an error.
  size_t num_finished = 0;
  size_t num_illegal = 0;
  size_t num_failed = 0;
  size_t num_pending = 0;
  std::string infeasible;  // More of those that finished: " (3 infeasible)".
};

class SweepProgress {
 public:
  // `plan` must outlive it. `points` are those that will run.
  SweepProgress(const PlannedSweep& plan,
                const std::vector<const PreparedPoint*>& points,
                SweepOutput output);

  // What there is to do; so many points failed before.
  void Begin(size_t num_failed) const;

  // A point is over: a line where it failed.
  void OnRecord(const PointRecord& record);

  // So many run just now.
  void OnRunning(int64_t running);

  // Something that a person may want to know.
  void OnNote(std::string_view note);

  // The last line.
  void End(const SweepEnd& end);

 private:
  using Clock = std::chrono::steady_clock;

  const PlannedSweep& plan_;
  SweepOutput output_;
  // The first point of each key that runs.
  std::map<std::string, const PreparedPoint*, std::less<>> points_;
  size_t num_done_ = 0;
  size_t num_failed_ = 0;
  Clock::time_point begin_ = Clock::now();
  ProgressLine line_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRESS_H_
