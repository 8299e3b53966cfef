#include "astra-core/apps/plan/plan_what_if.h"

#include <string_view>
#include <utility>

#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "collectives/systems/system_library.h"
#include "collectives/systems/system_spec.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kCandidates = 10;

// Plans with another value for an option. A value that the options or the
// cluster do not allow is told in the result.
absl::StatusOr<WhatIf> PlanWith(const SimaiPlannerOptions& options,
                                std::string_view option,
                                const std::string& value, std::string change) {
  WhatIf result;
  result.change = std::move(change);
  absl::StatusOr<SimaiPlannerOptions> changed =
      WithOption(options, option, value);
  if (!changed.ok()) {
    result.why_not = std::string(changed.status().message());
    return result;
  }
  changed->candidates = kCandidates;
  result.num_gpus = changed->job.num_gpus();
  const absl::StatusOr<SearchResult> search = SearchLayouts(*changed);
  if (!search.ok()) {
    result.why_not = std::string(search.status().message());
    return result;
  }
  ASTRA_ASSIGN_OR_RETURN(PlanRuns runs, RunPlans(*changed, *search));
  if (runs.plans.empty()) {
    result.why_not = "no layout fits";
  } else {
    result.best = std::move(runs.plans.front());
    result.layout = DescribeLayout(changed->job, result.best->estimate.layout);
  }
  return result;
}

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

}  // namespace

absl::StatusOr<std::vector<WhatIf>> PlanWhatIf(
    const SimaiPlannerOptions& options) {
  std::vector<WhatIf> changes;
  const auto add = [&](std::string_view option, const std::string& value,
                       std::string change) -> absl::Status {
    ASTRA_ASSIGN_OR_RETURN(WhatIf result,
                           PlanWith(options, option, value, std::move(change)));
    changes.push_back(std::move(result));
    return absl::OkStatus();
  };
  const int64_t batch = options.job.setups[0].global_batch;
  for (const int64_t other : {2 * batch, batch / 2}) {
    if (other < 1) continue;
    ASTRA_RETURN_IF_ERROR(add("global-batch", fmt::format("{}", other),
                              fmt::format("global batch {}", other)));
  }
  for (const double share : {1.25, 0.75}) {
    const double gib = share * options.job.gpu.memory_gb;
    ASTRA_RETURN_IF_ERROR(add("memory", fmt::format("{:.2f}", gib),
                              fmt::format("{:.1f} GiB a GPU", gib)));
  }
  if (options.run.topology_file) return changes;
  const int64_t gpus = options.job.num_gpus();
  const std::string system = options.run.system.value_or("");
  if (FindSystem(system).ok()) {
    ASTRA_ASSIGN_OR_RETURN(const std::vector<OtherSystem> others,
                           OtherSystems(system, gpus));
    const std::string path = options.output + "/what-if";
    if (!others.empty()) {
      ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                             OutputFolder::Create(path));
      for (const OtherSystem& other : others) {
        ASTRA_RETURN_IF_ERROR(folder.Write({other.file}));
        ASTRA_RETURN_IF_ERROR(add("system",
                                  fmt::format("{}/{}", path, other.file.name),
                                  other.change));
      }
    }
  }
  ASTRA_RETURN_IF_ERROR(add("gpus", fmt::format("{}", 2 * gpus),
                            fmt::format("{} GPUs", 2 * gpus)));
  for (int64_t fewer = gpus / 2; fewer >= 1; fewer /= 2) {
    ASTRA_RETURN_IF_ERROR(
        add("gpus", fmt::format("{}", fewer), fmt::format("{} GPUs", fewer)));
    if (!changes.back().best) break;
  }
  return changes;
}

std::string DescribeWhatIf(const std::vector<WhatIf>& changes) {
  std::string text = "\nwhat if\n";
  for (const WhatIf& change : changes) {
    if (!change.best) {
      AppendFormat(&text, "    {:<20} {}\n", change.change, change.why_not);
      continue;
    }
    const Plan& plan = *change.best;
    AppendFormat(&text,
                 "    {:<20} {:>11.4f} s {:>10.0f} tokens/s {:>8.0f} "
                 "a GPU  {}\n",
                 change.change, plan.seconds, plan.tokens_per_second,
                 plan.tokens_per_second / static_cast<double>(change.num_gpus),
                 change.layout);
  }
  return text;
}

std::string WhatIfCsv(const std::vector<WhatIf>& changes) {
  std::string csv =
      "change,gpus,iteration_s,tokens_per_s,reserved_gib,layout,why_not\n";
  constexpr double kBytesPerGib = 1 << 30;
  for (const WhatIf& change : changes) {
    if (!change.best) {
      AppendFormat(&csv, "{},{},,,,,\"{}\"\n", change.change, change.num_gpus,
                   change.why_not);
      continue;
    }
    const Plan& plan = *change.best;
    AppendFormat(&csv, "{},{},{:.6g},{:.6g},{:.3f},\"{}\",\n", change.change,
                 change.num_gpus, plan.seconds, plan.tokens_per_second,
                 static_cast<double>(plan.reserved.count()) / kBytesPerGib,
                 change.layout);
  }
  return csv;
}

}  // namespace astra
