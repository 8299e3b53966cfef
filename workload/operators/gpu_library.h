// The GPUs that are known by name: the files of inputs/gpus, compiled in.

#ifndef WORKLOAD_OPERATORS_GPU_LIBRARY_H_
#define WORKLOAD_OPERATORS_GPU_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// The GPU of that name or alias, where upper and lower case, and "_" and "-",
// are the same. Text with a "/", or that ends in .yaml or .yml, is the path of
// a file instead.
//
// Errors: those of ReadGpu; NotFound `unknown GPU "TEXT"; did you mean ...` for
// another name.
absl::StatusOr<GpuSpec> FindGpu(std::string_view name_or_path);

// Whether `type`, as a topology file has it, means the GPU `name`: the name
// itself, an alias of it, or its family, as "H100" means "h100-sxm" and
// "h100-pcie". Upper and lower case are the same.
bool IsGpuType(std::string_view type, std::string_view name);

// The names, without the aliases, sorted.
std::vector<std::string> GpuNames();

// All of them, by name.
const std::vector<GpuSpec>& BundledGpus();

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_LIBRARY_H_
