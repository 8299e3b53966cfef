// What simai_sweep says while and after it runs points: lines for people, or
// JSON objects for programs.

#ifndef ASTRA_CORE_APPS_SIMAI_SWEEP_PROGRESS_H_
#define ASTRA_CORE_APPS_SIMAI_SWEEP_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/simai_sweep_options.h"
#include "astra-core/apps/simai_sweep_plan.h"
#include "astra-core/base/progress.h"
#include "astra-core/sweep/execution/point_record.h"

namespace astra {

// Something that a person may want to know: a line, or a JSON object.
void PrintNote(std::string_view note, SweepOutput output);

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

  // The last line: how it ended ("finished"), and why if `status` is an error.
  // `infeasible` says more of those that finished: " (3 infeasible)".
  void End(std::string_view how, const absl::Status& status,
           size_t num_finished, size_t num_failed, size_t num_pending,
           std::string_view infeasible);

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

#endif  // ASTRA_CORE_APPS_SIMAI_SWEEP_PROGRESS_H_
