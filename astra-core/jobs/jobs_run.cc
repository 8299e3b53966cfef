#include "astra-core/jobs/jobs_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/shared_iteration.h"
#include "astra-core/engine/time_slice.h"
#include "astra-core/jobs/shared_network.h"
#include "astra-core/run/pace_network.h"
#include "fmt/core.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

constexpr TimePs kNever(std::numeric_limits<int64_t>::max());

// A job that runs: its iterations, one after the other, and what they write to
// and read from storage.
class RunningJob {
 public:
  // All must outlive the object. `report` is called many times a second. The
  // job is two users of `shared`: `number` for its collectives, and behind all
  // jobs one for storage.
  RunningJob(const JobsRequest& request, uint32_t number, SharedNetwork& shared,
             const std::function<absl::Status()>& report)
      : job_(request.jobs[number]),
        number_(number),
        storage_user_(static_cast<uint32_t>(request.jobs.size()) + number),
        shared_(shared),
        routes_(job_.part.topology),
        new_network_(
            [this] { return shared_.ViewFor(number_, job_.part.nodes); }),
        options_(job_.options) {
    options_.pace_network =
        PaceNetworkOf(request.fidelity, request.network, routes_);
    KeepTimeline(job_.program, /*trace=*/false, options_);
    options_.on_collective = request.on_collective;
    options_.on_progress = [this, &report](const RunProgress& progress) {
      share_ = progress.share;
      num_events_ = progress.work.events;
      return report();
    };
    result_.start = job_.start;
  }
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  // Prepares what the job does with storage.
  absl::Status SetUpStorage() {
    if (job_.storage.empty()) return absl::OkStatus();
    ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                           ParallelPlan::Create(job_.program.sizes()));
    storage_ = std::make_unique<StorageTraffic>(
        job_.storage, plan, job_.part.topology,
        shared_.ViewFor(storage_user_, job_.part.nodes));
    return storage_->CheckPaths(routes_);
  }

  bool has_ended() const {
    return has_run() && (storage_ == nullptr || !storage_->has_any_left());
  }

  // What the job writes and reads; "" if nothing is under way.
  std::string StorageUnderWay() const {
    return storage_ == nullptr ? "" : storage_->UnderWay();
  }

  // When the job has to go on, if no message arrives before; kNever while only
  // arrivals matter.
  TimePs next() const {
    const TimePs of_storage =
        storage_ == nullptr ? kNever : storage_->wanted().value_or(kNever);
    if (iteration_ != nullptr) {
      return std::min(shared_.WantedBy(number_), of_storage);
    }
    if (has_run() || waits_for_storage_) return of_storage;
    return std::min(job_.start, of_storage);
  }
  bool HasToGoOn() const {
    return !has_ended() && (shared_.HasArrivals(number_) ||
                            HasStorageArrivals() || next() <= shared_.now());
  }

  // Goes on until the network has to.
  absl::Status GoOn() {
    if (HasStorageArrivals()) storage_->TakeArrivals();
    if (storage_ != nullptr) storage_->StartDue();
    while (!has_run()) {
      if (iteration_ == nullptr) {
        waits_for_storage_ =
            storage_ != nullptr && !storage_->TryBegin(number());
        if (waits_for_storage_) return absl::OkStatus();
        ASTRA_RETURN_IF_ERROR(Begin());
      }
      ASTRA_ASSIGN_OR_RETURN(const bool is_over, iteration_->GoOn());
      if (!is_over) return absl::OkStatus();
      ASTRA_RETURN_IF_ERROR(End());
    }
    return absl::OkStatus();
  }

  double ShareDone() const {
    return (static_cast<double>(result_.iterations.size()) +
            (has_run() ? 0 : share_)) /
           static_cast<double>(job_.iterations);
  }

  // Returns the events of all iterations, without those of the network.
  uint64_t num_events() const { return events_before_ + num_events_; }

  // Requires has_ended().
  absl::StatusOr<JobResult> TakeResult() {
    const absl::Span<const double> bytes = shared_.LinkBytesOf(number_);
    result_.link_bytes.assign(bytes.begin(), bytes.end());
    if (storage_ != nullptr) {
      const absl::Span<const double> of_storage =
          shared_.LinkBytesOf(storage_user_);
      result_.storage_link_bytes.assign(of_storage.begin(), of_storage.end());
      result_.transfers = storage_->transfers();
    }
    ASTRA_ASSIGN_OR_RETURN(
        result_.explanation,
        Explain(job_.program, options_, routes_, result_.result));
    return std::move(result_);
  }

 private:
  // The number of the iteration that runs or is to begin.
  int64_t number() const {
    return static_cast<int64_t>(result_.iterations.size());
  }
  bool has_run() const { return number() == job_.iterations; }

  bool HasStorageArrivals() const {
    return storage_ != nullptr && shared_.HasArrivals(storage_user_);
  }

  absl::Status Begin() {
    begin_ = shared_.now();
    share_ = 0;
    options_.speed_changes = SpeedsFrom(begin_);
    ASTRA_ASSIGN_OR_RETURN(
        iteration_,
        SharedIteration::Create(job_.program, options_, routes_, new_network_));
    return absl::OkStatus();
  }

  // The changes of speeds for an iteration that begins now. Those of before
  // have happened when it begins, in their order.
  std::vector<SpeedChange> SpeedsFrom(TimePs now) const {
    std::vector<SpeedChange> speeds = job_.options.speed_changes;
    for (SpeedChange& change : speeds) {
      change.time = std::max(TimePs(), change.time - now);
    }
    return speeds;
  }

  absl::Status End() {
    ASTRA_ASSIGN_OR_RETURN(result_.result, iteration_->TakeResult());
    iteration_.reset();
    events_before_ += static_cast<uint64_t>(result_.result.num_events);
    num_events_ = 0;
    options_.costs = result_.result.costs;
    result_.iterations.push_back({begin_, shared_.now()});
    for (CollectiveRecord& record : result_.result.collectives) {
      record.bottleneck = job_.part.links[record.bottleneck.index()];
    }
    return absl::OkStatus();
  }

  const Job& job_;
  const uint32_t number_;
  const uint32_t storage_user_;
  SharedNetwork& shared_;
  Routes routes_;
  const NetworkFactory new_network_;
  SimulationOptions options_;
  std::unique_ptr<SharedIteration> iteration_;  // None between iterations.
  std::unique_ptr<StorageTraffic> storage_;     // None without storage.
  bool waits_for_storage_ = false;  // Whether the next iteration does.
  TimePs begin_;
  double share_ = 0;            // Of the iteration that runs.
  uint64_t num_events_ = 0;     // The same.
  uint64_t events_before_ = 0;  // Events of the iterations before it.
  JobResult result_;
};

// Jobs are the first users of the network. If any uses storage, what they write
// and read are as many again.
uint32_t NumUsers(const JobsRequest& request) {
  const bool has_storage =
      std::any_of(request.jobs.begin(), request.jobs.end(),
                  [](const Job& job) { return !job.storage.empty(); });
  return static_cast<uint32_t>((has_storage ? 2 : 1) * request.jobs.size());
}

absl::Status Named(const Job& job, const absl::Status& status) {
  if (status.ok() || status.code() == absl::StatusCode::kAborted) return status;
  return absl::Status(
      status.code(),
      fmt::format("job {}: {}", job.name, std::string(status.message())));
}

// The instant at which some job has to go on.
TimePs NextOf(absl::Span<const std::unique_ptr<RunningJob>> jobs) {
  TimePs next = kNever;
  for (const auto& job : jobs) {
    if (!job->has_ended()) next = std::min(next, job->next());
  }
  return next;
}

// Simulates the network until something arrives, while all jobs wait for
// storage. Errors: Internal if nothing ever does; those of on_progress.
absl::Status AwaitStorage(const JobsRequest& request,
                          absl::Span<const std::unique_ptr<RunningJob>> jobs,
                          const std::function<absl::Status()>& report,
                          SharedNetwork& shared) {
  const auto has_to_go_on = [](const auto& job) { return job->HasToGoOn(); };
  for (TimeSlice slice; shared.now() < kMaxCollectiveTime; slice.Adapt()) {
    shared.Advance(std::min(kMaxCollectiveTime, shared.now() + slice.length()));
    if (std::any_of(jobs.begin(), jobs.end(), has_to_go_on)) {
      return absl::OkStatus();
    }
    ASTRA_RETURN_IF_ERROR(report());
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string missing = jobs[i]->StorageUnderWay();
    if (missing.empty()) continue;
    const std::string why = shared.WhyStuck();
    return Named(request.jobs[i],
                 absl::InternalError(fmt::format(
                     "{} never arrive{}{}", missing,
                     why.empty() ? "" : "; the network says: ", why)));
  }
  ASTRA_CHECK(false, "jobs wait for nothing");
}

absl::Status RunToTheEnd(const JobsRequest& request,
                         absl::Span<const std::unique_ptr<RunningJob>> jobs,
                         const std::function<absl::Status()>& report,
                         SharedNetwork& shared) {
  const auto is_left = [](const auto& job) { return !job->has_ended(); };
  while (std::any_of(jobs.begin(), jobs.end(), is_left)) {
    bool has_any = false;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i]->HasToGoOn()) continue;
      has_any = true;
      ASTRA_RETURN_IF_ERROR(Named(request.jobs[i], jobs[i]->GoOn()));
    }
    if (has_any) continue;
    const TimePs next = NextOf(jobs);
    if (next < kNever) {
      shared.Advance(next);
    } else {
      ASTRA_RETURN_IF_ERROR(AwaitStorage(request, jobs, report, shared));
    }
  }
  return absl::OkStatus();
}

}  // namespace

TimePs JobResult::MeanIteration() const {
  const TimePs all = iterations.back().end - start;
  return TimePs(all.count() / static_cast<int64_t>(iterations.size()));
}

absl::StatusOr<JobsResult> RunJobs(const JobsRequest& request) {
  Routes routes(request.topology);
  const std::unique_ptr<NetworkBackend> network =
      NetworkOf(request.fidelity)->make(request.network, routes);
  SharedNetwork shared(*network, request.topology, NumUsers(request));
  std::vector<std::unique_ptr<RunningJob>> jobs;
  const std::function<absl::Status()> report = [&] {
    if (!request.on_progress) return absl::OkStatus();
    RunProgress progress{.simulated = shared.now(), .work = network->work()};
    for (const auto& job : jobs) {
      progress.share += job->ShareDone() / static_cast<double>(jobs.size());
      progress.work.events += job->num_events();
    }
    return request.on_progress(progress);
  };
  for (uint32_t i = 0; i < request.jobs.size(); ++i) {
    jobs.push_back(std::make_unique<RunningJob>(request, i, shared, report));
    ASTRA_RETURN_IF_ERROR(Named(request.jobs[i], jobs.back()->SetUpStorage()));
  }
  ASTRA_RETURN_IF_ERROR(RunToTheEnd(request, jobs, report, shared));
  JobsResult result;
  result.end = shared.now();
  network->Drain();
  result.link_bytes = {network->link_bytes().begin(),
                       network->link_bytes().end()};
  result.network = network->statistics();
  for (size_t i = 0; i < jobs.size(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(result.jobs.emplace_back(), jobs[i]->TakeResult());
  }
  return result;
}

absl::StatusOr<JobsResult> RunAlone(const JobsRequest& request, size_t job) {
  JobsRequest alone = request;
  alone.jobs = {request.jobs[job]};
  return RunJobs(alone);
}

absl::StatusOr<JobsResult> RunWithoutStorage(const JobsRequest& request) {
  JobsRequest without = request;
  for (Job& job : without.jobs) job.storage = {};
  return RunJobs(without);
}

}  // namespace astra
