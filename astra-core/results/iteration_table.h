// iteration.csv: how each rank spent its time until it had finished, a line for
// each class of ranks.

#ifndef ASTRA_CORE_RESULTS_ITERATION_TABLE_H_
#define ASTRA_CORE_RESULTS_ITERATION_TABLE_H_

#include <string>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"

namespace astra {

std::string IterationCsv(const SimulationResult& result);

void AppendIterationColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_ITERATION_TABLE_H_
