// breakdown.csv and critical_path.csv: where the time of an iteration goes.

#ifndef ASTRA_CORE_RESULTS_EXPLANATION_TABLES_H_
#define ASTRA_CORE_RESULTS_EXPLANATION_TABLES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"

namespace astra {

// Returns breakdown.csv: a line for each part of the time of each class of
// ranks; see breakdown.h.
std::string BreakdownCsv(const SimulationResult& result);

// Returns critical_path.csv: a line for each piece of `path`. Successive pieces
// of the same module, pass and micro-batch share a line.
std::string CriticalPathCsv(absl::Span<const PathPiece> path,
                            const SimulationResult& result);

void AppendExplanationColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_EXPLANATION_TABLES_H_
