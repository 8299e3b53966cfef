// Finds GPUs by name among the files of inputs/gpus, which are compiled in.

#ifndef WORKLOAD_OPERATORS_GPU_LIBRARY_H_
#define WORKLOAD_OPERATORS_GPU_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// Returns the GPU of that name or alias, such as the driver's name for it. Case
// does not matter, and "_" and " " equal "-". Text with a "/" or the ending
// .yaml or .yml is the path of a file instead.
//
// Errors: those of ReadGpu; NotFound `unknown GPU "TEXT"; did you mean ...` for
// another name.
absl::StatusOr<GpuSpec> FindGpu(std::string_view name_or_path);

// Returns whether `type`, as written in a topology file, means the GPU `name`.
// It may be the name, an alias, or a family: "H100" means "h100-sxm" and
// "h100-pcie". Case does not matter.
bool IsGpuType(std::string_view type, std::string_view name);

// Returns the names of all GPUs, without aliases, sorted.
std::vector<std::string> GpuNames();

// Returns all GPUs, sorted by name.
const std::vector<GpuSpec>& BundledGpus();

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_LIBRARY_H_
