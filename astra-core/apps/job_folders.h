// Keeps track of the files in the folders of jobs, which lie in the output
// folder of a run with --jobs.

#ifndef ASTRA_CORE_APPS_JOB_FOLDERS_H_
#define ASTRA_CORE_APPS_JOB_FOLDERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace astra {

// Returns the names of all files that a job may have written to its folder,
// whether it trains or serves.
std::vector<std::string_view> JobFileNames();

// Removes the files of jobs that an earlier run left in `output` and that are
// not among `jobs`. Their names are those in its jobs.csv, so call this before
// that file is replaced. Folders and files of others stay.
//
// Errors: those of OutputFolder::Create().
absl::Status EmptyJobFolders(const std::string& output,
                             absl::Span<const std::string> jobs = {});

}  // namespace astra

#endif  // ASTRA_CORE_APPS_JOB_FOLDERS_H_
