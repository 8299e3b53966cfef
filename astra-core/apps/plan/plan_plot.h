// Plots of plans, for the page and for the terminal.

#ifndef ASTRA_CORE_APPS_PLAN_PLAN_PLOT_H_
#define ASTRA_CORE_APPS_PLAN_PLAN_PLOT_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/apps/plan/plan_change.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/pages/scatter_plot.h"

namespace astra {

// Returns a plot of the reserved memory of `plans` against their time. Marks
// are the ranks; the limit is what a GPU has for what PyTorch reserves.
// Requires a plan.
ScatterPlot PlotOfMemory(const SimaiPlannerOptions& options,
                         absl::Span<const Plan> plans);

// Returns a plot of the time of the best plans against the number of GPUs,
// which are the marks. It has no points if no change is of the GPUs.
ScatterPlot PlotOfGpus(absl::Span<const WhatIf> changes);

// Returns the plot of memory for the screen, with a line that explains its
// characters.
std::string DescribePlot(const SimaiPlannerOptions& options,
                         absl::Span<const Plan> plans);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_PLAN_PLOT_H_
