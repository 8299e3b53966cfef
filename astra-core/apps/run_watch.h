// Watches a run of a workload while it goes on: shows its progress, and looks
// for signals that are to stop it.
//
//   RunWatch watch;
//   request.simulation.on_collective =
//       [&](const CollectiveRecord& record) { watch.End(record); };
//   request.simulation.on_progress = [&](const RunProgress& progress) {
//     return watch.Update(progress);
//   };

#ifndef ASTRA_CORE_APPS_RUN_WATCH_H_
#define ASTRA_CORE_APPS_RUN_WATCH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"

namespace astra {

// Says what a run does just now: how many events it executes and how many
// messages arrive in a second of the user's time, and which collectives ended
// last. Of collectives that are alike only the last one counts, since all
// groups of a dimension do the same at about the same time.
class RunActivity {
 public:
  using Clock = std::chrono::steady_clock;

  // Tells of a collective that has ended.
  void End(const CollectiveRecord& record);

  // Returns text such as "5 M events/s  1.25 k messages/s  ended: all-reduce
  // over TP, 8 ranks, 16.8 MB: 0.170 ms". `work` has been done by `now`. The
  // rates count from the last call, or from the beginning, to `now`; a kind of
  // work of which there was none yet is left out.
  std::string Describe(const WorkDone& work, Clock::time_point now);

 private:
  static constexpr size_t kMostNamed = 2;

  // Part of a record that is named.
  struct Ended {
    Communication communication;
    uint32_t num_ranks = 0;
    TimePs time;

    bool IsLike(const Ended& other) const {
      return communication == other.communication &&
             num_ranks == other.num_ranks;
    }
  };

  WorkDone counted_;  // Work that was done by the last call.
  Clock::time_point counted_at_ = Clock::now();
  std::deque<Ended> last_;  // The last to end comes first.
};

// From the first Update() on, and while the object lives, SIGINT, SIGTERM and
// SIGHUP no longer end the program: the next Update() reports them.
class RunWatch {
 public:
  explicit RunWatch(bool shows_progress = true)
      : shows_progress_(shows_progress) {}

  // See RunActivity.
  void End(const CollectiveRecord& record) { activity_.End(record); }

  // Serves as SimulationOptions::on_progress.
  //
  // Errors: Aborted, with the signal and the progress of the run, if a signal
  // has come; the exit code of the error is that of StopCode().
  absl::Status Update(const RunProgress& progress);

 private:
  // Share of the work from one line to the next, in a log.
  static constexpr double kShareOfALine = 0.1;

  bool shows_progress_;
  std::optional<StopSignals> signals_;
  ProgressLine progress_{stderr, std::chrono::seconds(10), kShareOfALine};
  RunActivity activity_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_WATCH_H_
