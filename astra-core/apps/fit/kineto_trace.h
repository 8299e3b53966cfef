// Reads what the GPU did from a trace of PyTorch's profiler (Kineto), as
// torch.profiler's export_chrome_trace() writes it: JSON whose "traceEvents"
// have kernels of category "kernel" with a name, a begin and a duration in
// microseconds, and steps as annotations "ProfilerStep#N". "distributedInfo"
// has the rank.
//
// Source: PyTorch, Kineto's output_json.cpp and the profiler's documentation.

#ifndef ASTRA_CORE_APPS_FIT_KINETO_TRACE_H_
#define ASTRA_CORE_APPS_FIT_KINETO_TRACE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

struct KinetoTrace {
  uint32_t rank = 0;
  int64_t steps = 1;    // Iterations in the trace; 1 if none is marked.
  int64_t kernels = 0;  // Kernels that compute, at least one.
  // Time in which at least one kernel that computes ran, of all iterations.
  // Kernels that communicate, of NCCL, RCCL, NVSHMEM and DeepEP, do not count.
  double computing_seconds = 0;
};

// Errors: InvalidArgument "FILE: ..." for text that is no JSON, also if it is
// compressed, for a trace without kernels, and for an event with a value of
// another type or a negative duration.
absl::StatusOr<KinetoTrace> ParseKinetoTrace(std::string_view file,
                                             std::string_view contents);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FIT_KINETO_TRACE_H_
