#include "astra-core/jobs/jobs_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/shared_iteration.h"
#include "astra-core/jobs/shared_network.h"
#include "astra-core/run/pace_network.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

// A job that runs: its iterations, one after the other.
class RunningJob {
 public:
  // All must outlive the object. `report` is called many times a second.
  RunningJob(const JobsRequest& request, uint32_t number, SharedNetwork& shared,
             const std::function<absl::Status()>& report)
      : job_(request.jobs[number]),
        number_(number),
        shared_(shared),
        routes_(job_.part.topology),
        new_network_(
            [this] { return shared_.ViewFor(number_, job_.part.nodes); }),
        options_(job_.options) {
    options_.pace_network =
        PaceNetworkOf(request.fidelity, request.network, routes_);
    KeepTimeline(job_.program, /*trace=*/false, options_);
    options_.on_progress = [this, &report](double share, TimePs) {
      share_ = share;
      return report();
    };
  }
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  bool has_ended() const {
    return result_.iterations.size() == static_cast<size_t>(job_.iterations);
  }

  // When the job has to go on, if no message arrives before.
  TimePs next() const {
    return iteration_ == nullptr ? job_.start : shared_.WantedBy(number_);
  }
  bool HasToGoOn() const {
    return !has_ended() &&
           (shared_.HasArrivals(number_) || next() <= shared_.now());
  }

  // Goes on until the network has to.
  absl::Status GoOn() {
    while (!has_ended()) {
      if (iteration_ == nullptr) ASTRA_RETURN_IF_ERROR(Begin());
      ASTRA_ASSIGN_OR_RETURN(const bool is_over, iteration_->GoOn());
      if (!is_over) return absl::OkStatus();
      ASTRA_RETURN_IF_ERROR(End());
    }
    return absl::OkStatus();
  }

  double ShareDone() const {
    return (static_cast<double>(result_.iterations.size()) +
            (has_ended() ? 0 : share_)) /
           static_cast<double>(job_.iterations);
  }

  // Requires has_ended().
  absl::StatusOr<JobResult> TakeResult() {
    const absl::Span<const double> bytes = shared_.LinkBytesOf(number_);
    result_.link_bytes.assign(bytes.begin(), bytes.end());
    ASTRA_ASSIGN_OR_RETURN(
        result_.explanation,
        Explain(job_.program, options_, routes_, result_.result));
    return std::move(result_);
  }

 private:
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
    options_.costs = result_.result.costs;
    result_.iterations.push_back({begin_, shared_.now()});
    for (CollectiveRecord& record : result_.result.collectives) {
      record.bottleneck = job_.part.links[record.bottleneck.index()];
    }
    return absl::OkStatus();
  }

  const Job& job_;
  const uint32_t number_;
  SharedNetwork& shared_;
  Routes routes_;
  const NetworkFactory new_network_;
  SimulationOptions options_;
  std::unique_ptr<SharedIteration> iteration_;  // None between iterations.
  TimePs begin_;
  double share_ = 0;  // Of the iteration that runs.
  JobResult result_;
};

absl::Status Named(const Job& job, const absl::Status& status) {
  if (status.ok() || status.code() == absl::StatusCode::kAborted) return status;
  return absl::Status(
      status.code(),
      fmt::format("job {}: {}", job.name, std::string(status.message())));
}

// The instant at which some job has to go on.
TimePs NextOf(absl::Span<const std::unique_ptr<RunningJob>> jobs) {
  TimePs next(std::numeric_limits<int64_t>::max());
  for (const auto& job : jobs) {
    if (!job->has_ended()) next = std::min(next, job->next());
  }
  return next;
}

absl::Status RunToTheEnd(const JobsRequest& request,
                         absl::Span<const std::unique_ptr<RunningJob>> jobs,
                         SharedNetwork& shared) {
  const auto is_left = [](const auto& job) { return !job->has_ended(); };
  while (std::any_of(jobs.begin(), jobs.end(), is_left)) {
    bool has_any = false;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i]->HasToGoOn()) continue;
      has_any = true;
      ASTRA_RETURN_IF_ERROR(Named(request.jobs[i], jobs[i]->GoOn()));
    }
    if (!has_any) shared.Advance(NextOf(jobs));
  }
  return absl::OkStatus();
}

}  // namespace

TimePs JobResult::MeanIteration() const {
  const TimePs all = iterations.back().end - iterations.front().begin;
  return TimePs(all.count() / static_cast<int64_t>(iterations.size()));
}

absl::StatusOr<JobsResult> RunJobs(const JobsRequest& request) {
  Routes routes(request.topology);
  const std::unique_ptr<NetworkBackend> network =
      NetworkOf(request.fidelity)->make(request.network, routes);
  SharedNetwork shared(*network, request.topology,
                       static_cast<uint32_t>(request.jobs.size()));
  std::vector<std::unique_ptr<RunningJob>> jobs;
  const std::function<absl::Status()> report = [&] {
    if (!request.on_progress) return absl::OkStatus();
    double share = 0;
    for (const auto& job : jobs) share += job->ShareDone();
    return request.on_progress(share / static_cast<double>(jobs.size()),
                               shared.now());
  };
  for (uint32_t i = 0; i < request.jobs.size(); ++i) {
    jobs.push_back(std::make_unique<RunningJob>(request, i, shared, report));
  }
  ASTRA_RETURN_IF_ERROR(RunToTheEnd(request, jobs, shared));
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

}  // namespace astra
