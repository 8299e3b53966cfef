// stages.csv: what each pipeline stage, and each of its chunks, computes for a
// micro-batch and holds in memory.
//
// The first line of a stage is the whole stage; lines of its chunks follow if
// it has several. memory.csv has the memory slot by slot, and breakdown.csv the
// time of the whole iteration.

#ifndef ASTRA_CORE_RESULTS_STAGES_TABLE_H_
#define ASTRA_CORE_RESULTS_STAGES_TABLE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

// Returns stages.csv. `memories` are those of MemoryOf(), or empty if the
// program says nothing of memory. Waiting is empty if `result` has no timeline.
std::string StagesCsv(const Program& program,
                      absl::Span<const StageMemory> memories,
                      const SimulationResult& result);

void AppendStagesColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_STAGES_TABLE_H_
