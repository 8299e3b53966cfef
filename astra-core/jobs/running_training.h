// A training job beside others: its iterations, one after the other, and what
// they write to and read from storage.

#ifndef ASTRA_CORE_JOBS_RUNNING_TRAINING_H_
#define ASTRA_CORE_JOBS_RUNNING_TRAINING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/shared_iteration.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/jobs/job.h"
#include "astra-core/jobs/running_job.h"
#include "astra-core/jobs/shared_network.h"
#include "astra-core/jobs/storage_traffic.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"

namespace astra {

class RunningTraining final : public RunningJob {
 public:
  // The users of `shared` that the job is: one for its collectives and one for
  // what it does with storage.
  struct Users {
    uint32_t collectives = 0;
    uint32_t storage = 0;
  };

  // Requires a job with iterations. `is_served` tells whether no job serves any
  // more, for TrainingWork::until_served. `report` is called many times a
  // second. All references, and what the functions use, must outlive the
  // object. TrainingWork::options names the network that paces collectives.
  RunningTraining(const Job& job, Users users, SharedNetwork& shared,
                  std::function<bool()> is_served,
                  const std::function<absl::Status()>& report);
  RunningTraining(const RunningTraining&) = delete;
  RunningTraining& operator=(const RunningTraining&) = delete;

  // Prepares what the job does with storage. Errors: those of ParallelPlan and
  // StorageTraffic::CheckPaths.
  absl::Status SetUpStorage();

  // Returns the iterations that have ended and count.
  const std::vector<JobIteration>& iterations() const {
    return result_.iterations;
  }

  // Returns the routes of the part of the job.
  Routes& routes() { return routes_; }
  // Sets the network on which collectives are paced, before the first GoOn().
  void SetPace(PaceNetwork pace) { options_.pace_network = std::move(pace); }
  // Calls `on_collective` with each collective that ends from now on.
  void Watch(std::function<void(const CollectiveRecord&)> on_collective) {
    options_.on_collective = std::move(on_collective);
  }

  bool has_ended() const override {
    return has_run_ && (storage_ == nullptr || !storage_->has_any_left());
  }
  TimePs next() const override;
  bool HasArrivals() const override {
    return shared_.HasArrivals(users_.collectives) || HasStorageArrivals();
  }
  absl::Status GoOn() override;
  double ShareDone() const override;
  uint64_t num_events() const override { return events_before_ + num_events_; }
  std::string AwaitedMessages() const override {
    return storage_ == nullptr ? "" : storage_->UnderWay();
  }
  absl::StatusOr<JobResult> TakeResult() override;

 private:
  // The number of the iteration that runs or is to begin.
  int64_t number() const {
    return static_cast<int64_t>(result_.iterations.size());
  }
  bool HasStorageArrivals() const {
    return storage_ != nullptr && shared_.HasArrivals(users_.storage);
  }
  absl::Status Begin();
  absl::Status End();
  absl::Status WithIteration(const absl::Status& status) const;
  std::vector<SpeedChange> SpeedsFrom(TimePs now) const;

  const Job& job_;
  const TrainingWork& work_;
  const Users users_;
  SharedNetwork& shared_;
  const std::function<bool()> is_served_;
  Routes routes_;
  const NetworkFactory new_network_;
  SimulationOptions options_;
  std::unique_ptr<SharedIteration> iteration_;  // None between iterations.
  std::unique_ptr<StorageTraffic> storage_;     // None without storage.
  bool waits_for_storage_ = false;  // Whether the next iteration does.
  bool has_run_ = false;            // Whether the last iteration has ended.
  TimePs begin_;
  double share_ = 0;            // Of the iteration that runs.
  uint64_t num_events_ = 0;     // The same.
  uint64_t events_before_ = 0;  // Events of the iterations before it.
  JobResult result_;
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_RUNNING_TRAINING_H_
