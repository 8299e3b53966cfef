#include "astra-core/jobs/running_training.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/random.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

// Every iteration has delays of its own, also those of jobs that run the same
// program.
uint64_t SeedOf(uint64_t seed, std::string_view job, int64_t iteration) {
  for (const char letter : job) {
    seed = HashOf(seed, static_cast<unsigned char>(letter));
  }
  return HashOf(seed, iteration);
}

}  // namespace

RunningTraining::RunningTraining(const Job& job, Users users,
                                 SharedNetwork& shared,
                                 std::function<bool()> is_served,
                                 const std::function<absl::Status()>& report)
    : job_(job),
      work_(*job.training()),
      users_(users),
      shared_(shared),
      is_served_(std::move(is_served)),
      routes_(job.part.topology),
      new_network_([this] {
        return shared_.ViewFor(users_.collectives, job_.part.nodes);
      }),
      options_(work_.options) {
  KeepTimeline(work_.program, /*trace=*/false, options_);
  options_.on_progress = [this, &report](const RunProgress& progress) {
    share_ = progress.share;
    num_events_ = progress.work.events;
    return report();
  };
  result_.start = job.start;
}

absl::Status RunningTraining::SetUpStorage() {
  if (work_.storage.empty()) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(work_.program.sizes()));
  storage_ = std::make_unique<StorageTraffic>(
      work_.storage, plan, job_.part.topology,
      shared_.ViewFor(users_.storage, job_.part.nodes));
  return storage_->CheckPaths(routes_);
}

TimePs RunningTraining::next() const {
  const TimePs of_storage =
      storage_ == nullptr ? kNever : storage_->wanted().value_or(kNever);
  if (iteration_ != nullptr) {
    return std::min(shared_.WantedBy(users_.collectives), of_storage);
  }
  if (has_run_ || waits_for_storage_) return of_storage;
  return std::min(job_.start, of_storage);
}

absl::Status RunningTraining::GoOn() {
  if (HasStorageArrivals()) storage_->TakeArrivals();
  if (storage_ != nullptr) storage_->StartDue();
  while (!has_run_) {
    if (iteration_ == nullptr) {
      waits_for_storage_ = storage_ != nullptr && !storage_->TryBegin(number());
      if (waits_for_storage_) return absl::OkStatus();
      ASTRA_RETURN_IF_ERROR(Begin());
    }
    const absl::StatusOr<bool> is_over = iteration_->GoOn();
    if (!is_over.ok()) return WithIteration(is_over.status());
    if (!*is_over) return absl::OkStatus();
    ASTRA_RETURN_IF_ERROR(End());
  }
  return absl::OkStatus();
}

double RunningTraining::ShareDone() const {
  if (has_run_) return 1;
  if (work_.until_served) return number() > 0 ? 1 : share_;
  return (static_cast<double>(number()) + share_) /
         static_cast<double>(work_.iterations);
}

absl::StatusOr<JobResult> RunningTraining::TakeResult() {
  const absl::Span<const double> bytes =
      shared_.LinkBytesOf(users_.collectives);
  result_.link_bytes.assign(bytes.begin(), bytes.end());
  if (storage_ != nullptr) {
    const absl::Span<const double> of_storage =
        shared_.LinkBytesOf(users_.storage);
    result_.storage_link_bytes.assign(of_storage.begin(), of_storage.end());
    result_.transfers = storage_->transfers();
  }
  result_.end = result_.iterations.back().end;
  ASTRA_ASSIGN_OR_RETURN(result_.explanation, Explain(work_.program, options_,
                                                      routes_, result_.result));
  return std::move(result_);
}

absl::Status RunningTraining::Begin() {
  begin_ = shared_.now();
  share_ = 0;
  options_.speed_changes = SpeedsFrom(begin_);
  options_.seed = SeedOf(work_.options.seed, job_.name, number());
  ASTRA_ASSIGN_OR_RETURN(
      iteration_,
      SharedIteration::Create(work_.program, options_, routes_, new_network_));
  return absl::OkStatus();
}

// Says of an iteration that is stuck when it began, since its own times count
// from there.
absl::Status RunningTraining::WithIteration(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kInternal) return status;
  return absl::InternalError(fmt::format(
      "iteration {}, which began at {:.3f} us (times below count from there): "
      "{}",
      number(), ToMicroseconds(begin_), std::string(status.message())));
}

// Returns the changes of speeds for an iteration that begins now. Those of
// before have happened when it begins, in their order.
std::vector<SpeedChange> RunningTraining::SpeedsFrom(TimePs now) const {
  std::vector<SpeedChange> speeds = work_.options.speed_changes;
  for (SpeedChange& change : speeds) {
    change.time = std::max(TimePs(), change.time - now);
  }
  return speeds;
}

absl::Status RunningTraining::End() {
  ASTRA_ASSIGN_OR_RETURN(SimulationResult result, iteration_->TakeResult());
  iteration_.reset();
  events_before_ += static_cast<uint64_t>(result.num_events);
  num_events_ = 0;
  options_.costs = result.costs;
  const bool is_served = work_.until_served && is_served_();
  if (is_served && number() > 0) {  // It has outlasted those that serve.
    has_run_ = true;
    return absl::OkStatus();
  }
  result_.result = std::move(result);
  result_.iterations.push_back({begin_, shared_.now()});
  for (CollectiveRecord& record : result_.result.collectives) {
    record.bottleneck = job_.part.links[record.bottleneck.index()];
  }
  has_run_ = work_.until_served ? is_served : number() == work_.iterations;
  return absl::OkStatus();
}

}  // namespace astra
