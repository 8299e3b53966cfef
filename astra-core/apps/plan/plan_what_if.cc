#include "astra-core/apps/plan/plan_what_if.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_limits.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "collectives/systems/system_library.h"
#include "collectives/systems/system_spec.h"
#include "fmt/core.h"

namespace astra {
namespace {

// A system with other links, as a file in the folder of the results.
struct OtherSystem {
  std::string change;
  NamedFile file;
};

// Returns systems with NICs of twice and half the rate, and with NVLink domains
// of twice the GPUs, where the job has several servers. `name` must be of a
// bundled system.
absl::StatusOr<std::vector<OtherSystem>> OtherSystems(const std::string& name,
                                                      int64_t num_gpus) {
  std::vector<OtherSystem> others;
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system, FindSystem(name));
  if (num_gpus <= system.gpus_per_server || system.nics_per_server == 0) {
    return others;
  }
  const auto add = [&others](SystemSpec other, const std::string& suffix,
                             std::string change) {
    other.name += suffix;
    other.aliases.clear();
    others.push_back(
        {std::move(change), {other.name + ".yaml", WriteSystem(other)}});
  };
  constexpr double kBits = 8;
  for (const double factor : {2.0, 0.5}) {
    SystemSpec other = system;
    other.nic_GBps *= factor;
    const double gbps = kBits * other.nic_GBps;
    add(other, fmt::format("-nic-{:.0f}", gbps),
        fmt::format("NICs of {:.0f} Gbps", gbps));
  }
  SystemSpec wider = system;
  wider.gpus_per_server *= 2;
  wider.nics_per_server *= 2;
  add(wider, fmt::format("-domain-{}", wider.gpus_per_server),
      fmt::format("NVLink domains of {}", wider.gpus_per_server));
  return others;
}

// Returns the job as it is.
WhatIf Unchanged(const SimaiPlannerOptions& options,
                 const std::optional<Plan>& best) {
  WhatIf job;
  job.change = "as planned";
  job.num_gpus = options.job.num_gpus();
  job.is_of_gpus = true;
  job.best = best;
  if (best) {
    job.layout = DescribeLayout(options.job, best->estimate.layout);
  } else {
    job.why_not = "no layout fits";
  }
  return job;
}

// Adds the best plans after changes of the job.
class Changes {
 public:
  Changes(const SimaiPlannerOptions& options, std::vector<WhatIf>& changes)
      : options_(options), changes_(changes) {}

  absl::Status AddBatches() {
    const int64_t batch = options_.job.setups[0].global_batch;
    for (const int64_t other : {2 * batch, batch / 2}) {
      if (other < 1) continue;
      ASTRA_RETURN_IF_ERROR(Add("global-batch", fmt::format("{}", other),
                                fmt::format("global batch {}", other)));
    }
    return absl::OkStatus();
  }

  absl::Status AddMemories() {
    for (const double share : {1.25, 0.75}) {
      const double gib = share * options_.job.gpu.memory_gb;
      ASTRA_RETURN_IF_ERROR(Add("memory", fmt::format("{:.2f}", gib),
                                fmt::format("{:.1f} GiB a GPU", gib)));
    }
    return absl::OkStatus();
  }

  absl::Status AddSystems() {
    const std::string system = options_.run.system.value_or("");
    if (!FindSystem(system).ok()) return absl::OkStatus();
    ASTRA_ASSIGN_OR_RETURN(const std::vector<OtherSystem> others,
                           OtherSystems(system, options_.job.num_gpus()));
    if (others.empty()) return absl::OkStatus();
    const std::string path = options_.output + "/what-if";
    ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                           OutputFolder::Create(path));
    for (const OtherSystem& other : others) {
      ASTRA_RETURN_IF_ERROR(folder.Write({other.file}));
      ASTRA_RETURN_IF_ERROR(Add(
          "system", fmt::format("{}/{}", path, other.file.name), other.change));
    }
    return absl::OkStatus();
  }

  absl::Status AddGpus() {
    const int64_t gpus = options_.job.num_gpus();
    ASTRA_RETURN_IF_ERROR(AddGpus(2 * gpus));
    for (int64_t fewer = gpus / 2; fewer >= 1; fewer /= 2) {
      ASTRA_RETURN_IF_ERROR(AddGpus(fewer));
      if (!changes_.back().best) break;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status AddGpus(int64_t gpus) {
    ASTRA_RETURN_IF_ERROR(
        Add("gpus", fmt::format("{}", gpus), fmt::format("{} GPUs", gpus)));
    changes_.back().num_gpus = gpus;
    changes_.back().is_of_gpus = true;
    return absl::OkStatus();
  }

  absl::Status Add(std::string_view option, const std::string& value,
                   std::string change) {
    ASTRA_ASSIGN_OR_RETURN(
        WhatIf result, PlanWith(options_, option, value, std::move(change)));
    changes_.push_back(std::move(result));
    return absl::OkStatus();
  }

  const SimaiPlannerOptions& options_;
  std::vector<WhatIf>& changes_;
};

// Returns the plans by number of GPUs, the fastest first of those with equal
// numbers.
std::vector<WhatIf*> ByGpus(std::vector<WhatIf>& changes) {
  std::vector<WhatIf*> of_gpus;
  for (WhatIf& change : changes) {
    if (change.is_of_gpus && change.best) of_gpus.push_back(&change);
  }
  std::stable_sort(of_gpus.begin(), of_gpus.end(),
                   [](const WhatIf* a, const WhatIf* b) {
                     return std::pair(a->num_gpus, a->best->seconds) <
                            std::pair(b->num_gpus, b->best->seconds);
                   });
  return of_gpus;
}

// Marks the plans of which no other is as fast with fewer GPUs or as many.
void MarkFront(std::vector<WhatIf>& changes) {
  double fastest = std::numeric_limits<double>::infinity();
  for (WhatIf* change : ByGpus(changes)) {
    change->is_on_front = change->best->seconds < fastest;
    fastest = std::min(fastest, change->best->seconds);
  }
}

std::string DescribeFront(std::vector<WhatIf> changes) {
  std::string text;
  for (const WhatIf* change : ByGpus(changes)) {
    if (!change->is_on_front) continue;
    AppendFormat(&text, "{} {} GPUs {:.4f} s", text.empty() ? "" : ",",
                 change->num_gpus, change->best->seconds);
  }
  if (text.empty()) return "";
  return "time against GPUs, none is as fast with fewer:" + text + "\n";
}

}  // namespace

absl::StatusOr<std::vector<WhatIf>> PlanWhatIf(
    const SimaiPlannerOptions& options, const std::optional<Plan>& best) {
  std::vector<WhatIf> changes = {Unchanged(options, best)};
  Changes adds(options, changes);
  ASTRA_RETURN_IF_ERROR(adds.AddBatches());
  ASTRA_RETURN_IF_ERROR(adds.AddMemories());
  if (!options.run.topology_file) {
    ASTRA_RETURN_IF_ERROR(adds.AddSystems());
    ASTRA_RETURN_IF_ERROR(adds.AddGpus());
    ASTRA_ASSIGN_OR_RETURN(WhatIf fewest, FewestGpus(options, changes));
    changes.push_back(std::move(fewest));
  }
  ASTRA_ASSIGN_OR_RETURN(WhatIf micro_batch, LargestMicroBatch(options));
  changes.push_back(std::move(micro_batch));
  if (best) {
    ASTRA_ASSIGN_OR_RETURN(WhatIf batch,
                           LargestBatchOf(options, best->estimate.layout));
    changes.push_back(std::move(batch));
  }
  MarkFront(changes);
  return changes;
}

std::string DescribeWhatIf(const std::vector<WhatIf>& changes) {
  std::string text = "\nwhat if\n";
  for (const WhatIf& change : changes) {
    if (!change.best) {
      AppendFormat(&text, "    {:<24} {}\n", change.change, change.why_not);
      continue;
    }
    const Plan& plan = *change.best;
    AppendFormat(&text,
                 "    {:<24} {:>11.4f} s {:>10.0f} tokens/s {:>8.0f} "
                 "a GPU  {}\n",
                 change.change, plan.seconds, plan.tokens_per_second,
                 plan.tokens_per_second / static_cast<double>(change.num_gpus),
                 change.layout);
  }
  return text + DescribeFront(changes);
}

std::string WhatIfCsv(const std::vector<WhatIf>& changes) {
  std::string csv =
      "change,gpus,iteration_s,tokens_per_s,reserved_gib,layout,why_not,"
      "is_on_gpu_front\n";
  for (const WhatIf& change : changes) {
    if (!change.best) {
      AppendFormat(&csv, "{},{},,,,,\"{}\",false\n", change.change,
                   change.num_gpus, change.why_not);
      continue;
    }
    const Plan& plan = *change.best;
    AppendFormat(&csv, "{},{},{:.6g},{:.6g},{:.3f},\"{}\",,{}\n", change.change,
                 change.num_gpus, plan.seconds, plan.tokens_per_second,
                 ToGib(plan.reserved), change.layout, change.is_on_front);
  }
  return csv;
}

}  // namespace astra
