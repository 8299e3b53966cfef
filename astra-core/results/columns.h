// The dictionary of all result files of a run, for --columns.

#ifndef ASTRA_CORE_RESULTS_COLUMNS_H_
#define ASTRA_CORE_RESULTS_COLUMNS_H_

#include <string>
#include <vector>

#include "astra-core/results/table.h"

namespace astra {

// Returns the columns of all files, in the order of the files.
std::vector<ColumnText> ResultColumns();

// Returns the columns as text, one line each.
std::string DescribeColumns();

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_COLUMNS_H_
