// The table of schedulers: which sequences of a replica compute what in its
// next step.
//
// A scheduler is one function, in the file of its name, with its source there.
// A new one is declared here and put into the table. Its test is
// tests/workload/serving/schedulers/NAME_test.cc; contract_test.cc beside it
// reads the table.

#ifndef WORKLOAD_SERVING_SCHEDULERS_REGISTRY_H_
#define WORKLOAD_SERVING_SCHEDULERS_REGISTRY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "workload/serving/batching_options.h"
#include "workload/serving/replica.h"

namespace astra {

struct SchedulerKind {
  std::string_view name;
  std::string_view meaning;

  // Puts into the empty `batch` what the next step computes, each sequence at
  // most once. May preempt sequences. The batch stays empty if nothing runs and
  // nothing can start.
  void (*form)(Replica* replica, Batch* batch);

  // Returns the most positions that a sequence may have when it leaves, so that
  // it runs on an empty replica.
  int64_t (*max_tokens)(const BatchingOptions& options);

  // Returns the most positions of a prompt that fit into one step; null: as
  // many as max_tokens. Of a scheduler that computes a preempted sequence whole
  // in one step, max_tokens has the limit of a step instead.
  int64_t (*max_prompt_tokens)(const BatchingOptions& options) = nullptr;

  // Returns the blocks that running sequences do not hold yet but never have to
  // wait for; null: they wait, or hold all of them.
  int64_t (*promised_blocks)(const Replica& replica) = nullptr;

  // Whether layers with a sliding window give back the blocks of positions that
  // have left it; otherwise they keep all, as other layers do.
  bool frees_windows = false;

  BatchingOptions defaults;  // num_blocks is 0: it has no default.

  // Names of the options that it heeds, beside max_sequences and those of the
  // KV cache and of drafts, which all heed.
  absl::Span<const std::string_view> options;
};

// Each function is defined in the file of its name.
const SchedulerKind& VllmScheduler();
const SchedulerKind& VllmV0Scheduler();
const SchedulerKind& SarathiScheduler();
const SchedulerKind& OrcaScheduler();
const SchedulerKind& FasterTransformerScheduler();
const SchedulerKind& LightllmScheduler();
const SchedulerKind& SglangScheduler();
const SchedulerKind& TrtllmScheduler();

inline constexpr const SchedulerKind& (*kSchedulers[])() = {
    &VllmScheduler,
    &VllmV0Scheduler,
    &SarathiScheduler,
    &OrcaScheduler,
    &FasterTransformerScheduler,
    &LightllmScheduler,
    &SglangScheduler,
    &TrtllmScheduler,
};

// Returns the most positions of a prompt that a replica can compute.
int64_t MaxPromptTokens(const SchedulerKind& scheduler,
                        const BatchingOptions& options);

// Returns the scheduler of that name.
//
// Errors: InvalidArgument for an unknown name, with the nearest one.
absl::StatusOr<const SchedulerKind*> FindScheduler(std::string_view name);

// Checks the options by themselves.
//
// Errors: FieldError about the option that is out of its range.
absl::Status CheckBatchingOptions(const BatchingOptions& options);

// Sets the option `name`, as of a file; switches are 0 or 1.
//
// Errors: InvalidArgument for an unknown name, with the nearest one, and for a
// value that is out of range or not whole.
absl::Status SetBatchingOption(std::string_view name, double value,
                               BatchingOptions* options);

// Returns the names of the options that are not the scheduler's defaults but
// have no effect on it, for a warning or an error of the caller.
std::vector<std::string_view> UnusedOptions(const SchedulerKind& scheduler,
                                            const BatchingOptions& options);

// Returns the positions of one sequence that has all blocks; a `max_tokens` of
// several schedulers.
int64_t TokensOfAllBlocks(const BatchingOptions& options);

}  // namespace astra

#endif  // WORKLOAD_SERVING_SCHEDULERS_REGISTRY_H_
