// Reads where the constants of a GPU come from, the key `origins` of its file:
//
// clang-format off
//   origins:
//     - {grade: stated, source: the datasheet, of: [sms, peak_TFLOPS]}
//     - {grade: guessed, source: no measurement, of: [gemm.fp8, memory]}
// clang-format on
//
// A constant has the name of its key; one within a mapping also has the key of
// the mapping, such as "gemm.fp8". The mapping's key alone, "gemm", means all
// of its constants that no other line names.

#ifndef WORKLOAD_OPERATORS_GPU_ORIGINS_H_
#define WORKLOAD_OPERATORS_GPU_ORIGINS_H_

#include <string_view>
#include <vector>

#include "astra-core/base/yaml_reader.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

std::string_view Name(OriginGrade grade);  // Returns "stated", ...

// Reads `entries`, the lines of `origins`, for a GPU's file `fields`, all of
// whose other fields have been read. A file has lines for all of its constants,
// or none: a GPU of the user's own need not say.
//
// Records as errors of the document: an unknown grade or constant, a constant
// that two lines name, and one that no line names.
std::vector<ConstantOrigin> ReadOrigins(YamlFields& fields,
                                        std::vector<YamlFields> entries);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_ORIGINS_H_
