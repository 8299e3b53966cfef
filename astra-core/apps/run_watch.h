// Watches a run of a workload while it goes on: shows its progress, and looks
// for signals that are to stop it.
//
//   RunWatch watch;
//   watch.CountMessages([&] { return flows.num_arrived(); });
//   request.simulation.on_collective =
//       [&](const CollectiveRecord& record) { watch.End(record); };
//   request.simulation.on_progress = [&](double share, TimePs simulated) {
//     return watch.Update(share, simulated);
//   };

#ifndef ASTRA_CORE_APPS_RUN_WATCH_H_
#define ASTRA_CORE_APPS_RUN_WATCH_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/progress.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"

namespace astra {

// Says what a run does just now: how many messages arrive per second, and which
// collectives ended last. Of those that are alike only the last one counts,
// since all groups of a dimension do the same at about the same time.
class RunActivity {
 public:
  using Clock = std::chrono::steady_clock;

  // `num_messages` returns how many messages have arrived since the run, or one
  // of its networks, began.
  void CountMessages(std::function<uint64_t()> num_messages) {
    num_messages_ = std::move(num_messages);
  }
  // Tells of a collective that has ended.
  void End(const CollectiveRecord& record);

  // Returns text such as "1.25 M messages/s  ended: all-reduce over TP, 8
  // ranks, 16.8 MB: 0.170 ms". The rate counts from the last call, or from
  // the beginning, to `now`.
  std::string Describe(Clock::time_point now);

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

  std::function<uint64_t()> num_messages_;  // Empty: not known.
  uint64_t counted_ = 0;                    // By the last call.
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
  void CountMessages(std::function<uint64_t()> num_messages) {
    activity_.CountMessages(std::move(num_messages));
  }
  void End(const CollectiveRecord& record) { activity_.End(record); }

  // Serves as SimulationOptions::on_progress.
  //
  // Errors: Aborted, with the signal and the progress of the run, if a signal
  // has come; the exit code of the error is that of StopCode().
  absl::Status Update(double fraction, TimePs simulated);

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
