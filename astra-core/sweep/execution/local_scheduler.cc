#include "astra-core/sweep/execution/local_scheduler.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <thread>

#include "astra-core/base/free_memory.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/sweep/execution/point_process.h"
#include "fmt/core.h"

namespace astra {
namespace {

using Clock = std::chrono::steady_clock;

// The points that run and those that wait, for one call of RunLocally().
class LocalRun {
 public:
  LocalRun(const SweepRun& run, const SchedulerOptions& options,
           const SweepEvents& events)
      : run_(run),
        options_(options),
        events_(events),
        jobs_(NumJobs(options.local)),
        memory_bytes_(options.local.memory_bytes > 0
                          ? options.local.memory_bytes
                          : FreeMemoryBytes()),
        waiting_(run.points.begin(), run.points.end()) {}

  ~LocalRun() {
    for (PointProcess& process : running_) process.Abandon();
  }

  absl::Status RunAll() {
    const StopSignals signals;
    while (!waiting_.empty() || !alone_.empty() || !running_.empty()) {
      ASTRA_RETURN_IF_ERROR(StartSome());
      events_.on_running(static_cast<int64_t>(running_.size()));
      if (const char* signal = signals.Wait(TimeToWait())) {
        return absl::CancelledError(fmt::format("stopped by {}", signal));
      }
      KillLate();
      ASTRA_RETURN_IF_ERROR(Reap());
    }
    return absl::OkStatus();
  }

 private:
  static int64_t NumJobs(const LocalOptions& local) {
    if (local.jobs > 0) return local.jobs;
    return std::max(1U, std::thread::hardware_concurrency());
  }

  bool HasRoom() const {
    if (running_.empty()) return true;
    if (is_alone_) return false;
    const auto count = static_cast<int64_t>(running_.size());
    const int64_t one = peak_bytes_.value_or(kFirstMemoryBytes);
    return count < jobs_ && (count + 1) * one <= memory_bytes_;
  }

  absl::Status StartSome() {
    while (!waiting_.empty() && HasRoom()) {
      const PreparedPoint& point = *waiting_.front();
      waiting_.pop_front();
      // Another process may have run the point meanwhile, by --point.
      // Ignored: the point runs again and writes a new record.
      std::string fault;
      const std::optional<PointRecord> record =
          ReadPointRecord(run_.folder, point.key(), &fault);
      ASTRA_RETURN_IF_ERROR(record ? events_.on_record(*record) : Start(point));
    }
    if (running_.empty() && !alone_.empty()) {
      is_alone_ = true;
      ASTRA_RETURN_IF_ERROR(Start(*alone_.front()));
      alone_.pop_front();
    }
    return absl::OkStatus();
  }

  absl::Status Start(const PreparedPoint& point) {
    ASTRA_ASSIGN_OR_RETURN(PointProcess process,
                           PointProcess::Start(run_, point));
    running_.push_back(std::move(process));
    return absl::OkStatus();
  }

  // Returns how long to wait for a process before a timeout or an update is
  // due.
  std::chrono::milliseconds TimeToWait() const {
    std::chrono::milliseconds wait(200);
    if (!options_.timeout) return wait;
    for (const PointProcess& process : running_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          process.begin() + *options_.timeout - Clock::now());
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    return wait;
  }

  void KillLate() {
    if (!options_.timeout) return;
    for (PointProcess& process : running_) {
      if (Clock::now() - process.begin() < *options_.timeout) continue;
      process.Kill(fmt::format(
          "took longer than --timeout {} s",
          std::chrono::duration<double>(*options_.timeout).count()));
    }
  }

  // Handles all processes that have ended.
  absl::Status Reap() {
    for (auto process = running_.begin(); process != running_.end();) {
      int wait_status = 0;
      rusage usage{};
      if (wait4(process->pid(), &wait_status, WNOHANG, &usage) !=
          process->pid()) {
        ++process;
        continue;
      }
      peak_bytes_ = std::max(peak_bytes_.value_or(0), usage.ru_maxrss * 1024);
      if (RanOutOfMemory(*process, wait_status)) {
        alone_.push_back(&process->point());
        process = running_.erase(process);
        continue;
      }
      absl::StatusOr<std::optional<PointRecord>> record =
          process->Ended(wait_status, usage);
      if (record.ok() && !record->has_value()) {
        ++process;
        continue;
      }
      process = running_.erase(process);  // The process has ended.
      ASTRA_RETURN_IF_ERROR(record.status());
      ASTRA_RETURN_IF_ERROR(events_.on_record(**record));
    }
    return absl::OkStatus();
  }

  // The kernel kills processes this way when memory runs out. Memory may
  // suffice for the point when it runs alone.
  bool RanOutOfMemory(const PointProcess& process, int wait_status) const {
    return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
           !process.was_told_to_end() && running_.size() > 1;
  }

  const SweepRun& run_;
  const SchedulerOptions& options_;
  const SweepEvents& events_;
  const int64_t jobs_;
  const int64_t memory_bytes_;
  std::deque<const PreparedPoint*> waiting_;
  // Points to run at the end, one at a time.
  std::deque<const PreparedPoint*> alone_;
  bool is_alone_ = false;
  std::list<PointProcess> running_;
  // Largest peak memory of a process so far.
  std::optional<int64_t> peak_bytes_;
};

}  // namespace

absl::Status RunLocally(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events) {
  return LocalRun(run, options, events).RunAll();
}

}  // namespace astra
