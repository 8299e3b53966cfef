#include "absl/types/span.h"
#include "astra-core/sweep/execution/local_scheduler.h"
#include "astra-core/sweep/execution/scheduler.h"
#include "astra-core/sweep/execution/slurm_scheduler.h"

namespace astra {
namespace {

constexpr SchedulerEntry kSchedulers[] = {
    {"local", &RunLocally},
    {"slurm", &RunOnSlurm},
};

}  // namespace

absl::Span<const SchedulerEntry> Schedulers() { return kSchedulers; }

}  // namespace astra
