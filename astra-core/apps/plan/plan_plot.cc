#include "astra-core/apps/plan/plan_plot.h"

#include <cstddef>

#include "astra-core/base/units.h"
#include "astra-core/pages/scatter_text.h"
#include "fmt/core.h"
#include "workload/memory_timeline.h"

namespace astra {

ScatterPlot PlotOfMemory(const SimaiPlannerOptions& options,
                         absl::Span<const Plan> plans) {
  ScatterPlot plot;
  plot.x_name = "iteration s";
  plot.y_name = "reserved GiB";
  for (size_t i = 0; i < plans.size(); ++i) {
    const Plan& plan = plans[i];
    const double gib = ToGib(plan.reserved);
    plot.points.push_back(
        {plan.seconds, gib, plan.is_efficient, fmt::format("{}", i + 1),
         fmt::format("{}: {:.4f} s, {:.2f} GiB, {}", i + 1, plan.seconds, gib,
                     DescribeLayout(options.job, plan.estimate.layout))});
  }
  const double limit = options.job.gpu.memory_gb - ToGib(kDeviceOverhead);
  plot.limit = {limit,
                fmt::format("{:.1f} GiB of a GPU can be reserved", limit)};
  return plot;
}

ScatterPlot PlotOfGpus(absl::Span<const WhatIf> changes) {
  ScatterPlot plot;
  plot.x_name = "GPUs";
  plot.y_name = "iteration s";
  plot.is_log = true;
  for (const WhatIf& change : changes) {
    if (!change.best || !change.is_of_gpus) continue;
    const std::string gpus = fmt::format("{} GPUs", change.num_gpus);
    plot.points.push_back({static_cast<double>(change.num_gpus),
                           change.best->seconds, change.is_on_front, gpus,
                           fmt::format("{}: {:.4f} s, {}", gpus,
                                       change.best->seconds, change.layout)});
  }
  return plot;
}

std::string DescribePlot(const SimaiPlannerOptions& options,
                         absl::Span<const Plan> plans) {
  return "\n" + ScatterText(PlotOfMemory(options, plans)) +
         "1 to 9: the first plans; *: others that none beats in time and "
         "memory; .: others\n";
}

}  // namespace astra
