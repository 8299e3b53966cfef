// A job while it runs beside others on a SharedNetwork; see run_together.h.

#ifndef ASTRA_CORE_JOBS_RUNNING_JOB_H_
#define ASTRA_CORE_JOBS_RUNNING_JOB_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/job.h"

namespace astra {

class RunningJob {
 public:
  virtual ~RunningJob() = default;

  virtual bool has_ended() const = 0;

  // Returns when the job has to go on, if no message arrives before; kNever
  // while only arrivals matter.
  virtual TimePs next() const = 0;

  // Returns whether messages have arrived that the job has not taken.
  virtual bool HasArrivals() const = 0;

  // Goes on until the network, or another job, has to.
  virtual absl::Status GoOn() = 0;

  // Returns the share of the job that is done, 0 to 1.
  virtual double ShareDone() const = 0;

  // Returns how many events of the job have been handled, without those of the
  // network.
  virtual uint64_t num_events() const = 0;

  // Returns which messages the job waits for while next() is kNever, such as
  // "3 of 8 messages of the checkpoint before iteration 2"; "" for none.
  virtual std::string AwaitedMessages() const = 0;

  // Requires has_ended(). May be called once.
  virtual absl::StatusOr<JobResult> TakeResult() = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_RUNNING_JOB_H_
