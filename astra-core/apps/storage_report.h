// Tells what the jobs of a run wrote to storage and read from it, and what that
// cost them.

#ifndef ASTRA_CORE_APPS_STORAGE_REPORT_H_
#define ASTRA_CORE_APPS_STORAGE_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/jobs/jobs_run.h"
#include "astra-core/jobs/storage_use.h"
#include "astra-core/results/jobs_table.h"
#include "astra-core/results/storage_table.h"

namespace astra {

// Returns whether any job uses storage.
bool UsesStorage(absl::Span<const Job> jobs);

// Returns the rows of storage.csv, ordered by job and then by begin. `results`
// are those of `jobs`.
std::vector<StorageRow> StorageRowsOf(absl::Span<const Job> jobs,
                                      absl::Span<const JobResult> results);

// Returns lines of text for a job that trains, if any job uses storage: a line
// for its checkpoints, one for its data, one for what its iterations lost, and
// one for what they take in a long run if storage then bounds them. `use` is
// that of the job.
std::string DescribeStorage(const StorageUse& use, const JobResult& result,
                            const JobRow& row);

// Returns the same for run.json. Requires row.without_storage.
Json StorageJson(const JobResult& result, const JobRow& row);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_STORAGE_REPORT_H_
