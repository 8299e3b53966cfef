#include "astra-core/jobs/run_together.h"

#include <algorithm>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/time_slice.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Named(const std::string& name, const absl::Status& status) {
  if (status.ok() || status.code() == absl::StatusCode::kAborted ||
      name.empty()) {
    return status;
  }
  return absl::Status(
      status.code(),
      fmt::format("job {}: {}", name, std::string(status.message())));
}

bool HasToGoOn(const RunningJob& job, TimePs now) {
  return !job.has_ended() && (job.HasArrivals() || job.next() <= now);
}

// Returns the instant at which some job has to go on.
TimePs NextOf(absl::Span<const std::unique_ptr<RunningJob>> jobs) {
  TimePs next = kNever;
  for (const auto& job : jobs) {
    if (!job->has_ended()) next = std::min(next, job->next());
  }
  return next;
}

// Simulates the network until something arrives, while all jobs wait for
// messages. Errors: Internal if nothing ever does; those of `report`.
absl::Status AwaitMessages(absl::Span<const std::string> names,
                           absl::Span<const std::unique_ptr<RunningJob>> jobs,
                           const std::function<absl::Status()>& report,
                           SharedNetwork& shared) {
  const auto goes_on = [&](const auto& job) {
    return HasToGoOn(*job, shared.now());
  };
  for (TimeSlice slice; shared.now() < kMaxCollectiveTime; slice.Adapt()) {
    shared.Advance(std::min(kMaxCollectiveTime, shared.now() + slice.length()));
    if (std::any_of(jobs.begin(), jobs.end(), goes_on)) return absl::OkStatus();
    ASTRA_RETURN_IF_ERROR(report());
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string missing = jobs[i]->AwaitedMessages();
    if (missing.empty()) continue;
    const std::string why = shared.WhyStuck();
    return Named(names[i],
                 absl::InternalError(fmt::format(
                     "{} never arrive{}{}", missing,
                     why.empty() ? "" : "; the network says: ", why)));
  }
  ASTRA_CHECK(false, "jobs wait for nothing");
}

}  // namespace

absl::Status RunTogether(absl::Span<const std::string> names,
                         absl::Span<const std::unique_ptr<RunningJob>> jobs,
                         const std::function<absl::Status()>& report,
                         SharedNetwork& shared) {
  const auto is_left = [](const auto& job) { return !job->has_ended(); };
  while (std::any_of(jobs.begin(), jobs.end(), is_left)) {
    bool has_any = false;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (!HasToGoOn(*jobs[i], shared.now())) continue;
      has_any = true;
      ASTRA_RETURN_IF_ERROR(Named(names[i], jobs[i]->GoOn()));
    }
    if (has_any) continue;
    const TimePs next = NextOf(jobs);
    if (next < kNever) {
      shared.Advance(next);
    } else {
      ASTRA_RETURN_IF_ERROR(AwaitMessages(names, jobs, report, shared));
    }
  }
  return absl::OkStatus();
}

}  // namespace astra
