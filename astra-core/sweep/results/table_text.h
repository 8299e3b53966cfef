// A sweep's results for other programs: CSV and JSON lines.

#ifndef ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_
#define ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_

#include <string>

#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// A line for each row: point, the variables, state, reason, the metrics (empty
// where there is none). With `cost` also wall_s, cpu_s, peak_memory_mib, host,
// ended, attempts, which differ from run to run; without, the same sweep gives
// the same bytes wherever it runs.
std::string TableCsv(const SweepTable& table, bool cost);

// A JSON object in one line for each row, with "point", "state", "reason",
// "variables", "metrics", "key" and, where it has run, "cost".
std::string TableJsonLines(const SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_TABLE_TEXT_H_
