// Estimates what a run in closed form takes, before its cluster is read.

#ifndef ASTRA_CORE_APPS_ANALYTICAL_WORK_H_
#define ASTRA_CORE_APPS_ANALYTICAL_WORK_H_

#include "astra-core/apps/run_options.h"
#include "astra-core/apps/work_budget.h"
#include "workload/program.h"

namespace astra {

// The cables of the cluster that `options` names, from the size of its file or
// from the number of its GPUs; 0 where the size of the file is not known.
double EstimateCables(const RunOptions& options);

// Returns the work of reading and using a cluster of `num_cables`, and of
// running `program`: all its micro-batches with `is_whole` and with a schedule
// that has no steady state, and else so few that they count for nothing beside
// the cluster.
WorkBudget AnalyticalWork(const Program& program, double num_cables,
                          bool is_whole);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_ANALYTICAL_WORK_H_
