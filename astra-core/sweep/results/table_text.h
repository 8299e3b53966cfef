// Formats a sweep's results for other programs, as CSV and JSON lines.

#ifndef ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_
#define ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_

#include <string>

#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// Returns one CSV line for each row: point, the variables, state, reason, the
// metrics (empty where absent). With `cost`, the line ends with wall_s, cpu_s,
// peak_memory_mib, host, ended and attempts, which differ from run to run.
// Without `cost`, the same sweep gives the same bytes on any host.
std::string TableCsv(const SweepTable& table, bool cost);

// Returns one JSON object on one line for each row, with "point", "state",
// "reason", "variables", "metrics", "key" and, where the point has run, "cost".
std::string TableJsonLines(const SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_
