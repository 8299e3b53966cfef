// Writes the results of simai_serving, whichever question it answered.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_FILES_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_FILES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/files.h"

namespace astra {

// Writes `files` to `folder`, which lies at `path`, and removes all other files
// that the program writes there for any question. Of the folders of plans,
// plan-1 and so on, those behind the first `num_plans` are emptied likewise.
//
// Errors: those of OutputFolder.
absl::Status WriteServingFiles(const OutputFolder& folder,
                               const std::string& path,
                               const std::vector<NamedFile>& files,
                               size_t num_plans = 0);

// Returns the path of the folder of a plan, counted from 0.
std::string PlanFolder(const std::string& path, size_t plan);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_FILES_H_
