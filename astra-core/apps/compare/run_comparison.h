// Sets finished runs side by side, for the page and for the terminal.

#ifndef ASTRA_CORE_APPS_COMPARE_RUN_COMPARISON_H_
#define ASTRA_CORE_APPS_COMPARE_RUN_COMPARISON_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/compare/finished_run.h"

namespace astra {

// A row of a table: what it is of, and cells that are ready to be shown.
using ComparisonRow = std::vector<std::string>;

struct ComparisonTable {
  std::vector<std::string> columns;
  std::vector<ComparisonRow> rows;
};

// Returns the figures of each run, then by how much each further run differs
// from the first: as a difference and as a percentage. Figures that no run has,
// or that are 0 in all, are left out.
ComparisonTable CompareFigures(absl::Span<const FinishedRun> runs);

// Returns the number and the time of the collectives of each group and kind,
// then the differences of the times.
ComparisonTable CompareCollectives(absl::Span<const FinishedRun> runs);

// Returns the inputs that are not the same in all runs.
ComparisonTable CompareInputs(absl::Span<const FinishedRun> runs);

// Returns the tables of figures and inputs for a terminal.
std::string DescribeComparison(absl::Span<const FinishedRun> runs);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COMPARE_RUN_COMPARISON_H_
