// EndToEnd.csv: the totals of the reported rank and a line for each layer, in
// SimAI's layout.
//
// Source: SimAI 1.6, the EndToEnd file of its analytical mode.

#ifndef ASTRA_CORE_RESULTS_END_TO_END_H_
#define ASTRA_CORE_RESULTS_END_TO_END_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"

namespace astra {

// Returns the file. `name` is the name of the run.
std::string EndToEndCsv(std::string_view name, const SimulationResult& result);

void AppendEndToEndColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_END_TO_END_H_
