// Estimates the cost of a run in closed form, before its cluster is read.

#ifndef ASTRA_CORE_APPS_ANALYTICAL_WORK_H_
#define ASTRA_CORE_APPS_ANALYTICAL_WORK_H_

#include "astra-core/apps/run_options.h"
#include "astra-core/apps/work_budget.h"
#include "workload/program.h"

namespace astra {

// Returns the number of cables of the cluster that `options` names, estimated
// from the size of its file or from the number of its GPUs; 0 if the size of
// the file is not known.
double EstimateCables(const RunOptions& options, const Program& program);

// Returns the work of reading and using a cluster of `num_cables`, and of
// running `program`. With `is_whole`, or with a schedule that has no steady
// state, all micro-batches run. Otherwise so few run that they count for
// nothing beside the cluster.
WorkBudget AnalyticalWork(const Program& program, double num_cables,
                          bool is_whole);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_ANALYTICAL_WORK_H_
