#include "astra-core/apps/plan/plan_limits.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/base/status_macros.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns whether any sizes of the space divide `gpus` and the batch.
bool IsLegalNumber(const SimaiPlannerOptions& options, int64_t gpus) {
  const absl::StatusOr<SimaiPlannerOptions> changed =
      WithOption(options, "gpus", fmt::format("{}", gpus));
  if (!changed.ok()) return false;
  const PlanSpace& space = changed->space;
  const int64_t batch = changed->job.setups[0].global_batch;
  for (const int64_t tensor : space.tensor) {
    for (const int64_t context : space.context) {
      for (const int64_t pipeline : space.pipeline) {
        const int64_t of_replica = tensor * context * pipeline;
        if (gpus % of_replica != 0) continue;
        // The least micro-batch divides the batch if any does.
        const int64_t least = gpus / of_replica * space.micro_batch.front();
        if (batch % least == 0) return true;
      }
    }
  }
  return false;
}

// Returns the legal numbers of GPUs above `fails` and below `fits`.
std::vector<int64_t> NumbersBetween(const SimaiPlannerOptions& options,
                                    int64_t fails, int64_t fits) {
  int64_t per_server = 1;
  if (options.run.system) {
    const absl::StatusOr<SystemSpec> system = LoadSystem(*options.run.system);
    if (system.ok()) per_server = system->gpus_per_server;
  }
  std::vector<int64_t> numbers;
  for (int64_t gpus = fails + 1; gpus < fits; ++gpus) {
    const bool is_whole = gpus < per_server || gpus % per_server == 0;
    if (is_whole && IsLegalNumber(options, gpus)) numbers.push_back(gpus);
  }
  return numbers;
}

absl::StatusOr<WhatIf> PlanWithGpus(const SimaiPlannerOptions& options,
                                    int64_t gpus) {
  return PlanWith(options, "gpus", fmt::format("{}", gpus), "");
}

// Returns the answer for the least of `numbers` that fits, or else `otherwise`.
absl::StatusOr<WhatIf> LeastThatFits(const SimaiPlannerOptions& options,
                                     absl::Span<const int64_t> numbers,
                                     WhatIf otherwise) {
  constexpr size_t kMostTried = 16;
  while (numbers.size() > kMostTried) {
    const size_t middle = numbers.size() / 2;
    ASTRA_ASSIGN_OR_RETURN(WhatIf result,
                           PlanWithGpus(options, numbers[middle]));
    if (result.best) {
      otherwise = std::move(result);
      numbers = numbers.first(middle);
    } else {
      numbers.remove_prefix(middle + 1);
    }
  }
  for (const int64_t gpus : numbers) {
    ASTRA_ASSIGN_OR_RETURN(WhatIf result, PlanWithGpus(options, gpus));
    if (result.best) return result;
  }
  return otherwise;
}

// Plans with the only micro-batch `size`.
absl::StatusOr<WhatIf> PlanOf(const SimaiPlannerOptions& options,
                              int64_t size) {
  return PlanWith(options, "micro-batch", fmt::format("{}", size),
                  fmt::format("largest micro-batch: {}", size));
}

// Plans with a batch of one micro-batch.
absl::StatusOr<WhatIf> PlanAtOnce(const SimaiPlannerOptions& options,
                                  int64_t batch) {
  const absl::StatusOr<SimaiPlannerOptions> changed =
      WithOption(options, "global-batch", fmt::format("{}", batch));
  if (changed.ok()) return PlanOf(*changed, batch);
  WhatIf result;
  result.why_not = std::string(changed.status().message());
  return result;
}

// Returns the plan with the largest batch that fits at once. `answer` is that
// of `batch`, which fits.
absl::StatusOr<WhatIf> GrowBatch(const SimaiPlannerOptions& options,
                                 int64_t batch, WhatIf answer) {
  int64_t beyond = 2 * batch;
  for (; beyond <= kMostMicroBatch; beyond *= 2) {
    ASTRA_ASSIGN_OR_RETURN(WhatIf result, PlanAtOnce(options, beyond));
    if (!result.best) break;
    answer = std::move(result);
    batch = beyond;
  }
  while (beyond <= kMostMicroBatch && beyond - batch > 1) {
    const int64_t middle = batch + (beyond - batch) / 2;
    ASTRA_ASSIGN_OR_RETURN(WhatIf result, PlanAtOnce(options, middle));
    if (!result.best) {
      beyond = middle;
      continue;
    }
    answer = std::move(result);
    batch = middle;
  }
  return answer;
}

}  // namespace

absl::StatusOr<WhatIf> FewestGpus(const SimaiPlannerOptions& options,
                                  absl::Span<const WhatIf> changes) {
  const WhatIf* fits = nullptr;
  int64_t fails = 0;
  for (const WhatIf& change : changes) {
    if (!change.is_of_gpus) continue;
    if (!change.best) {
      fails = std::max(fails, change.num_gpus);
    } else if (fits == nullptr || change.num_gpus < fits->num_gpus) {
      fits = &change;
    }
  }
  WhatIf answer;
  answer.is_of_gpus = true;
  if (fits == nullptr) {
    answer.change = "fewest GPUs";
    answer.num_gpus = fails;
    answer.why_not = fmt::format("no layout fits on {} GPUs", fails);
    return answer;
  }
  ASTRA_ASSIGN_OR_RETURN(
      answer,
      LeastThatFits(options, NumbersBetween(options, fails, fits->num_gpus),
                    *fits));
  answer.is_of_gpus = true;
  answer.change = fmt::format("fewest GPUs: {}", answer.num_gpus);
  return answer;
}

absl::StatusOr<WhatIf> LargestMicroBatch(const SimaiPlannerOptions& options) {
  const int64_t batch = options.job.setups[0].global_batch;
  ASTRA_ASSIGN_OR_RETURN(WhatIf answer, PlanAtOnce(options, batch));
  if (answer.best) return GrowBatch(options, batch, std::move(answer));
  for (int64_t parts = 2; parts <= batch; ++parts) {
    if (batch % parts != 0) continue;
    ASTRA_ASSIGN_OR_RETURN(answer, PlanOf(options, batch / parts));
    if (answer.best) return answer;
  }
  answer.change = "largest micro-batch";
  return answer;
}

absl::StatusOr<WhatIf> LargestBatchOf(const SimaiPlannerOptions& options,
                                      const Layout& layout) {
  const int64_t batch = options.job.setups[0].global_batch;
  const auto with = [&](int64_t micro_batch) {
    return WithOption(
        options, "global-batch",
        fmt::format("{}", batch / layout.micro_batch * micro_batch));
  };
  Layout changed = layout;
  // A batch beyond what a program may hold does not fit either.
  const auto fits = [&](int64_t micro_batch) {
    const absl::StatusOr<SimaiPlannerOptions> larger = with(micro_batch);
    if (!larger.ok()) return false;
    changed.micro_batch = micro_batch;
    const absl::StatusOr<Plan> plan = MemoryOfLayout(*larger, changed);
    return plan.ok() && plan->fits;
  };
  int64_t largest = layout.micro_batch;
  int64_t beyond = 2 * largest;
  for (; beyond <= kMostMicroBatch && fits(beyond); beyond *= 2) {
    largest = beyond;
  }
  while (beyond - largest > 1) {
    const int64_t middle = largest + (beyond - largest) / 2;
    (fits(middle) ? largest : beyond) = middle;
  }
  changed.micro_batch = largest;
  ASTRA_ASSIGN_OR_RETURN(const SimaiPlannerOptions larger, with(largest));
  WhatIf answer;
  answer.change =
      fmt::format("plan 1 up to batch {}", larger.job.setups[0].global_batch);
  answer.num_gpus = options.job.num_gpus();
  ASTRA_ASSIGN_OR_RETURN(answer.best, RunLayout(larger, changed));
  answer.layout = DescribeLayout(larger.job, changed);
  return answer;
}

}  // namespace astra
