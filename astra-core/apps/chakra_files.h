// Reads and writes the files of a Chakra trace.

#ifndef ASTRA_CORE_APPS_CHAKRA_FILES_H_
#define ASTRA_CORE_APPS_CHAKRA_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "workload/traces/chakra_trace.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Reads PREFIX.0.et, PREFIX.1.et, and so on, and the groups from `groups_file`,
// or else from PREFIX.json, if there is one. `peak` is that of the GPU, if it
// is known.
//
// Errors: NotFound for missing files; those of ReadFile, ParseChakraFile,
// ParseProcessGroups and ChakraImport.
absl::StatusOr<ExecutionTrace> ReadChakraTrace(
    const std::string& prefix, const std::optional<std::string>& groups_file,
    const std::optional<PeakRates>& peak, Warnings* warnings);

// Returns the names of the files of ranks from `num_ranks` on, without their
// folder.
std::vector<std::string> LaterRankFiles(const std::string& prefix,
                                        size_t num_ranks);

// Returns the rates of the GPU `name`: of dense BF16 products, and of its
// memory. Errors: those of FindGpu().
absl::StatusOr<PeakRates> FindPeakRates(const std::string& name);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_CHAKRA_FILES_H_
