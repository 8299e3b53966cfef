#include "astra-core/apps/job_folders.h"

#include <algorithm>
#include <iterator>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/results/jobs_table.h"
#include "fmt/core.h"

namespace astra {

std::vector<std::string_view> JobFileNames() {
  std::vector<std::string_view> names(std::begin(kResultFiles),
                                      std::end(kResultFiles));
  names.insert(names.end(), std::begin(kServingFiles), std::end(kServingFiles));
  return names;
}

absl::Status EmptyJobFolders(const std::string& output,
                             absl::Span<const std::string> jobs) {
  const absl::StatusOr<std::string> table = ReadFile(output + "/jobs.csv");
  if (!table.ok()) return absl::OkStatus();  // No run with --jobs was here.
  for (const std::string& job : JobsInCsv(*table)) {
    const std::string path = fmt::format("{}/{}", output, job);
    const bool is_left =
        std::find(jobs.begin(), jobs.end(), job) == jobs.end() &&
        IsFileName(job) && IsFolder(path);
    if (!is_left) continue;
    ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                           OutputFolder::Create(path));
    ASTRA_RETURN_IF_ERROR(folder.Write({}, JobFileNames()));
  }
  return absl::OkStatus();
}

}  // namespace astra
