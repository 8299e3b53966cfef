#include "astra-core/jobs/running_serving.h"

#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"

namespace astra {

TimePs RunningServing::next() const {
  if (has_ended_) return kNever;
  return has_begun_ ? shared_.WantedBy(number_) : start_;
}

absl::Status RunningServing::GoOn() {
  if (!has_begun_) {
    has_begun_ = true;
    ASTRA_RETURN_IF_ERROR(work_.begin(shared_.ViewFor(number_, nodes_)));
  }
  ASTRA_ASSIGN_OR_RETURN(has_ended_, work_.go_on());
  end_ = shared_.now();
  ++num_events_;
  return report_();
}

absl::StatusOr<JobResult> RunningServing::TakeResult() {
  JobResult result;
  result.start = start_;
  result.end = end_;
  const absl::Span<const double> bytes = shared_.LinkBytesOf(number_);
  result.link_bytes.assign(bytes.begin(), bytes.end());
  return result;
}

}  // namespace astra
