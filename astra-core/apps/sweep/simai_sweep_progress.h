// Prints what simai_sweep says while and after it runs points: lines for
// people, or JSON objects for programs.

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

// Prints a note for the user: as a line, or as a JSON object.
void PrintNote(std::string_view note, SweepOutput output);

// How a run ended.
struct SweepEnd {
  std::string_view how;  // Such as "finished".
  absl::Status status;   // The reason, if it is an error.
  size_t num_finished = 0;
  size_t num_infeasible = 0;  // Of the finished ones.
  size_t num_illegal = 0;
  size_t num_failed = 0;
  size_t num_pending = 0;
};

class SweepProgress {
 public:
  // `plan` must outlive this object. `points` are the points that will run.
  SweepProgress(const PlannedSweep& plan,
                const std::vector<const PreparedPoint*>& points,
                SweepOutput output);

  // Prints what is to be done. `num_failed` points failed in earlier runs.
  void Begin(size_t num_failed) const;

  // Counts a point that is over, and prints a line if it failed.
  void OnRecord(const PointRecord& record);

  // Shows that `running` points run now.
  void OnRunning(int64_t running);

  // Prints a note for the user.
  void OnNote(std::string_view note);

  // Prints the last line.
  void End(const SweepEnd& end);

 private:
  using Clock = std::chrono::steady_clock;

  const PlannedSweep& plan_;
  SweepOutput output_;
  // Points that run, by key; of points with one key, the first.
  std::map<std::string, const PreparedPoint*, std::less<>> points_;
  size_t num_done_ = 0;
  size_t num_failed_ = 0;
  Clock::time_point begin_ = Clock::now();
  ProgressLine line_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRESS_H_
