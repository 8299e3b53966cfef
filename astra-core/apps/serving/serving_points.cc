#include "astra-core/apps/serving/serving_points.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/base/log.h"
#include "astra-core/base/parallel.h"
#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

// Lends the times of a replica to one thread after the other. Their tables fill
// up as points are served, and hold the same prices whatever was asked before.
class TimesPool {
 public:
  explicit TimesPool(const ServingJob& job) : job_(job) {}

  absl::StatusOr<std::unique_ptr<ReplicaTimes>> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<ReplicaTimes> times = std::move(free_.back());
        free_.pop_back();
        return times;
      }
    }
    Warnings ignored;  // Every replica has the same ones.
    return ReplicaTimes::Create(job_, &ignored);
  }

  void GiveBack(std::unique_ptr<ReplicaTimes> times) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(times));
  }

 private:
  const ServingJob& job_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReplicaTimes>> free_;
};

absl::StatusOr<ServingRun> ServePoint(const ServingJob& job,
                                      const LoadPoint& point,
                                      const SourceOfPoint& source_of,
                                      const ServePointsOptions& options,
                                      TimesPool& pool) {
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<RequestSource> source,
                         source_of(point));
  auto setup = std::make_unique<ServingSetup>();
  if (options.setup_of) {
    ASTRA_ASSIGN_OR_RETURN(setup, options.setup_of());
  }
  ASTRA_ASSIGN_OR_RETURN(std::unique_ptr<ReplicaTimes> times, pool.Take());
  absl::StatusOr<ServingRun> run = RunServing(job, *times,
                                              {.source = source.get(),
                                               .in_flight = point.in_flight,
                                               .seed = options.seed,
                                               .limits = options.limits},
                                              setup->parts());
  pool.GiveBack(std::move(times));
  ASTRA_RETURN_IF_ERROR(setup->status());
  return run;
}

}  // namespace

absl::StatusOr<std::vector<ServingRun>> ServePoints(
    const ServingJob& job, absl::Span<const LoadPoint> points,
    const SourceOfPoint& source_of, const ServePointsOptions& options) {
  TimesPool pool(job);
  std::mutex mutex;
  size_t reported = 0;
  size_t first_error = points.size();
  std::vector<std::optional<absl::StatusOr<ServingRun>>> served(points.size());
  ForEachOnThreads(points.size(), options.threads, [&](size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (i > first_error) return;
    }
    absl::StatusOr<ServingRun> run =
        ServePoint(job, points[i], source_of, options, pool);
    const std::lock_guard lock(mutex);
    if (!run.ok()) first_error = std::min(first_error, i);
    served[i] = std::move(run);
    for (; reported < points.size() && served[reported].has_value() &&
           served[reported]->ok();
         ++reported) {
      if (options.report) options.report(points[reported], **served[reported]);
    }
  });
  std::vector<ServingRun> runs;
  for (std::optional<absl::StatusOr<ServingRun>>& run : served) {
    ASTRA_RETURN_IF_ERROR(run->status());
    runs.push_back(**std::move(run));
  }
  return runs;
}

}  // namespace astra
