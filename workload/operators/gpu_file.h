// Reads GPUs from YAML files, such as those of inputs/gpus:
//
//   name: h100-sxm
//   aliases: [H100, H100-80GB]   # Case does not count, and _ is as good as -.
//   source: [where the numbers come from]    # May be absent.
//   origins:                     # Of each constant; see gpu_origins.h. May be
//     - {grade: stated, source: datasheet, of: [sms]}            # absent.
//   architecture: Hopper
//   sms: 132
//   clock_MHz: 1830
//   peak_TFLOPS:                 # Dense.
//     fp32: 494.5                # TF32, or vector where there is none.
//     bf16: 989.4
//     fp8: 1978.9                # Absent: none.
//   vector_TFLOPS: 66.9
//   memory_GB: 80                # 10^9 bytes.
//   memory_GBps: 3352
//   l2_cache_MB: 50
//   nvlink_GBps: 450             # One direction; 0: none.
//   pcie_GBps: 64                # One direction.
//   calibration:                 # Shares of the peaks, from 0.001 to 1.
//     origin: what it was fitted to
//     error: 0.08                # From 0 to 10.
//     gemm: {bf16: 0.8, fp8: 0.7, fp32: 0.8}  # Absent: as the next wider.
//     grouped_gemm: 0.8          # Relative to gemm.
//     attention_forward: 0.7
//     attention_backward: 0.6
//     linear_attention: 0.1
//     memory: 0.88
//     memory_of: {layer_norm: 0.6}            # By operator; may be absent.
//     kernel_us: 4
//     tile_fill_k: 100
//     attention_bias: 0.9                     # These may be absent.
//     training_load: 0.9
//     sharded_load: 0.8
//     communication_slowdown: 0.1             # From 0 to 0.999.

#ifndef WORKLOAD_OPERATORS_GPU_FILE_H_
#define WORKLOAD_OPERATORS_GPU_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text in another form, a
// missing field, and an unknown field; those of ReadOrigins.
absl::StatusOr<GpuSpec> ParseGpu(std::string_view file,
                                 std::string_view contents);

// Parses the file `path`. Errors: those of ParseGpu and of ReadFile.
absl::StatusOr<GpuSpec> ReadGpu(const std::string& path);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GPU_FILE_H_
