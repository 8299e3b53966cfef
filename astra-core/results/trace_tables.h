// ranks.csv and nodes.csv: how the ranks of an execution trace spent their
// time, and the nodes of the rank that finishes last, summed up by name.

#ifndef ASTRA_CORE_RESULTS_TRACE_TABLES_H_
#define ASTRA_CORE_RESULTS_TRACE_TABLES_H_

#include <string>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"

namespace astra {

// Each returns the file of `result`, which is that of a trace.
std::string RanksCsv(const SimulationResult& result);
std::string NodesCsv(const SimulationResult& result);

void AppendTraceColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_TRACE_TABLES_H_
