// A deployment that serves requests beside other jobs.

#ifndef ASTRA_CORE_JOBS_RUNNING_SERVING_H_
#define ASTRA_CORE_JOBS_RUNNING_SERVING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/jobs/job.h"
#include "astra-core/jobs/running_job.h"
#include "astra-core/jobs/shared_network.h"

namespace astra {

class RunningServing final : public RunningJob {
 public:
  // The job is user `number` of `shared`, and its nodes are `nodes` of the
  // whole. It reports what happens many times a second. All but `start` must
  // outlive the object.
  RunningServing(const ServingWork& work, TimePs start,
                 const std::vector<NodeId>& nodes, uint32_t number,
                 SharedNetwork& shared,
                 const std::function<absl::Status()>& report)
      : work_(work),
        start_(start),
        nodes_(nodes),
        number_(number),
        shared_(shared),
        report_(report),
        has_begun_(!work.begin) {}
  RunningServing(const RunningServing&) = delete;
  RunningServing& operator=(const RunningServing&) = delete;

  bool has_ended() const override { return has_ended_; }
  TimePs next() const override;
  bool HasArrivals() const override { return shared_.HasArrivals(number_); }
  absl::Status GoOn() override;
  double ShareDone() const override {
    return has_begun_ ? work_.share_done() : 0;
  }
  uint64_t num_events() const override { return num_events_; }
  std::string AwaitedMessages() const override { return ""; }
  absl::StatusOr<JobResult> TakeResult() override;

 private:
  const ServingWork& work_;
  const TimePs start_;
  const std::vector<NodeId>& nodes_;
  const uint32_t number_;
  SharedNetwork& shared_;
  const std::function<absl::Status()>& report_;
  bool has_begun_;
  bool has_ended_ = false;
  uint64_t num_events_ = 0;  // Instants at which it went on.
  TimePs end_;
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_RUNNING_SERVING_H_
