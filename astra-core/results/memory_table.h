// memory.csv: how much memory a rank of each pipeline stage has allocated, slot
// by slot of what the stage runs.
//
// Usage:
//   files.push_back({"memory.csv", MemoryCsv(program, MemoryOf(program))});

#ifndef ASTRA_CORE_RESULTS_MEMORY_TABLE_H_
#define ASTRA_CORE_RESULTS_MEMORY_TABLE_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/results/table.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

// Returns memory.csv: after a comment with the number of micro-batches, a line
// for each point of `memories` and for the peak of `after`, if any.
std::string MemoryCsv(const Program& program,
                      absl::Span<const StageMemory> memories);

void AppendMemoryColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_MEMORY_TABLE_H_
