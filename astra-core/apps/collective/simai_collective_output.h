// Formats what simai_collective prints and writes for a sweep.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OUTPUT_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OUTPUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/collective/simai_collective_sweep.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"

namespace astra {

// Output of one task.
struct CollectiveReport {
  std::string page;  // Text for stdout.
  std::vector<NamedFile> files;
  size_t num_rows = 0;
  Warnings warnings;
};

// Returns a number in `width` columns, as nccl-tests prints it: with two
// decimals, or with fewer where two do not fit.
std::string NcclTestsNumber(double value, int width);

// Returns a page in the columns of nccl-tests; collective.csv, with a line for
// each size; and run.json, with the inputs as they were understood.
CollectiveReport ReportSweep(const SimaiCollectiveOptions& options,
                             const CollectiveSweep& sweep);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OUTPUT_H_
