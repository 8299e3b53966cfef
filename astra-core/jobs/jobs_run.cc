#include "astra-core/jobs/jobs_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "astra-core/jobs/run_together.h"
#include "astra-core/jobs/running_job.h"
#include "astra-core/jobs/running_serving.h"
#include "astra-core/jobs/running_training.h"
#include "astra-core/jobs/shared_network.h"
#include "astra-core/run/pace_network.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

// Returns how many users of the network the jobs are. The jobs are the first;
// if any uses storage, what they write and read are as many again.
uint32_t NumUsers(const JobsRequest& request) {
  const bool has_storage =
      std::any_of(request.jobs.begin(), request.jobs.end(),
                  [](const Job& job) { return job.uses_storage(); });
  return static_cast<uint32_t>((has_storage ? 2 : 1) * request.jobs.size());
}

// The jobs of a request while they run. The object does not move, since its
// parts refer to one another.
class JobsTogether {
 public:
  // `shared` shares `network`.
  JobsTogether(const JobsRequest& request, const NetworkBackend& network,
               SharedNetwork& shared)
      : request_(request), network_(network), shared_(shared) {}
  JobsTogether(const JobsTogether&) = delete;
  JobsTogether& operator=(const JobsTogether&) = delete;

  absl::Status Run() {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < request_.jobs.size(); ++i) {
      names.push_back(request_.jobs[i].name);
      ASTRA_RETURN_IF_ERROR(Add(i));
    }
    return RunTogether(names, jobs_, report_, shared_);
  }

  absl::StatusOr<std::vector<JobResult>> TakeResults() {
    std::vector<JobResult> results;
    for (const auto& job : jobs_) {
      ASTRA_ASSIGN_OR_RETURN(results.emplace_back(), job->TakeResult());
    }
    return results;
  }

 private:
  absl::Status Add(uint32_t number) {
    const Job& job = request_.jobs[number];
    if (const auto* serving = std::get_if<ServingWork>(&job.work)) {
      serving_.push_back(jobs_.size());
      jobs_.push_back(std::make_unique<RunningServing>(
          *serving, job.start, job.part.nodes, number, shared_, report_));
      return absl::OkStatus();
    }
    const auto num_jobs = static_cast<uint32_t>(request_.jobs.size());
    auto training = std::make_unique<RunningTraining>(
        job,
        RunningTraining::Users{.collectives = number,
                               .storage = num_jobs + number},
        shared_, [this] { return IsServed(); }, report_);
    training->SetPace(
        PaceNetworkOf(request_.fidelity, request_.network, training->routes()));
    training->Watch(request_.on_collective);
    absl::Status status = training->SetUpStorage();
    jobs_.push_back(std::move(training));
    if (status.ok()) return status;
    return absl::Status(
        status.code(),
        fmt::format("job {}: {}", job.name, std::string(status.message())));
  }

  // Returns whether no job serves any more.
  bool IsServed() const {
    return std::all_of(serving_.begin(), serving_.end(),
                       [this](size_t job) { return jobs_[job]->has_ended(); });
  }

  absl::Status Report() const {
    if (!request_.on_progress) return absl::OkStatus();
    RunProgress progress{.simulated = shared_.now(), .work = network_.work()};
    for (const auto& job : jobs_) {
      progress.share += job->ShareDone() / static_cast<double>(jobs_.size());
      progress.work.events += job->num_events();
    }
    return request_.on_progress(progress);
  }

  const JobsRequest& request_;
  const NetworkBackend& network_;
  SharedNetwork& shared_;
  const std::function<absl::Status()> report_ = [this] { return Report(); };
  std::vector<std::unique_ptr<RunningJob>> jobs_;
  std::vector<size_t> serving_;  // Positions in `jobs_` of those that serve.
};

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
  JobsTogether jobs(request, *network, shared);
  ASTRA_RETURN_IF_ERROR(jobs.Run());
  JobsResult result;
  result.end = shared.now();
  network->Drain();
  result.link_bytes = {network->link_bytes().begin(),
                       network->link_bytes().end()};
  result.network = network->statistics();
  ASTRA_ASSIGN_OR_RETURN(result.jobs, jobs.TakeResults());
  return result;
}

absl::StatusOr<JobsResult> RunAlone(const JobsRequest& request, size_t job) {
  JobsRequest alone = request;
  alone.jobs = {request.jobs[job]};
  return RunJobs(alone);
}

absl::StatusOr<JobsResult> RunWithoutStorage(const JobsRequest& request) {
  JobsRequest without = request;
  for (Job& job : without.jobs) {
    if (TrainingWork* const training = job.training()) training->storage = {};
  }
  return RunJobs(without);
}

}  // namespace astra
