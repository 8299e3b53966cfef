// Reads the numbers in the programs' result files as metrics of a sweep.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_
#define ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/sweep/execution/point_record.h"

namespace astra {

// Returns the metrics in a run.json: every number in the sections "result",
// "iteration", "memory" and "simulated", in this order. Of metrics with the
// same name the first counts; true and false become 1 and 0. A number in a
// nested mapping has the names of both, with the unit last: TP of exposed_ps
// becomes exposed_TP_ms. Times in ps become ms. Numbers that identify or count
// the simulator's own work (ranks, stages, events) are left out.
//
// Errors: InvalidArgument "FILE: ..." if the text is not such a file.
absl::StatusOr<std::vector<Metric>> ParseRunMetrics(std::string_view file,
                                                    std::string_view contents);

// Returns the metrics of the results in `folder`: those of run.json and, where
// there is a collective.csv, bytes, time_us, algbw_GBps and busbw_GBps of its
// last row, which is the largest size.
//
// Errors: InvalidArgument or NotFound "FILE: ...".
absl::StatusOr<std::vector<Metric>> ReadRunMetrics(const std::string& folder);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_RUN_METRICS_H_
