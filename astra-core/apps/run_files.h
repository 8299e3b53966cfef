// Makes what a run leaves behind: its result files, and the text at its end.

#ifndef ASTRA_CORE_APPS_RUN_FILES_H_
#define ASTRA_CORE_APPS_RUN_FILES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/files.h"
#include "astra-core/run/run.h"

namespace astra {

// Returns the tables, the trace and the chart. They are the same for equal
// inputs.
std::vector<NamedFile> ResultFiles(const RunOptions& options,
                                   const RunRequest& request,
                                   const RunResult& run);

// Returns the text that is printed at the end. The last line says whether the
// run has finished, and if not, why.
std::string DescribeResults(const RunOptions& options,
                            const RunRequest& request, const RunResult& run,
                            absl::Span<const NamedFile> files);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_FILES_H_
