// The numbers that the programs' result files hold, as metrics of a sweep.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_
#define ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/execution/point_record.h"

namespace astra {

// The metrics in a run.json: every number in its sections "result",
// "iteration", "memory" and "simulated", in that order, of one name the first;
// true and false are 1 and 0.
// A number within another mapping has the names of both, its unit last: TP of
// exposed_ps is exposed_TP_ms. Times in ps are in ms here. Left out: what
// identifies or counts the simulator's own work (ranks, stages, events).
//
// Errors: InvalidArgument "FILE: ..." for what is no such file.
absl::StatusOr<std::vector<Metric>> ParseRunMetrics(std::string_view file,
                                                    std::string_view contents);

// Those of the results in `folder`: of run.json, and of the last row of
// collective.csv, that is the largest size, where there is one: bytes, time_us,
// algbw_GBps, busbw_GBps.
//
// Errors: InvalidArgument or NotFound "FILE: ...".
absl::StatusOr<std::vector<Metric>> ReadRunMetrics(const std::string& folder);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_
