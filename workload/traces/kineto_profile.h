// Reads the trace of one rank that PyTorch's profiler writes (Kineto): its
// matrix products with their shapes, its collectives with their sizes, the time
// of all kernels, and the time in which any of them computes.
//
// Source: pytorch.org/docs/stable/profiler.html, export_chrome_trace with
// record_shapes=True; github.com/pytorch/kineto. Kernels are tied to operators
// by "External id"; annotations "ProfilerStep#N" mark iterations.

#ifndef WORKLOAD_TRACES_KINETO_PROFILE_H_
#define WORKLOAD_TRACES_KINETO_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// A matrix product, m x k by k x n, `groups` at once, as often as it ran.
struct KinetoProduct {
  std::string name;       // Of the operator, such as "aten::mm".
  std::string precision;  // fp32, bf16, fp16 or fp8.
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t groups = 1;
  std::vector<TimePs> times;  // Of its kernels, ascending.
};

// A collective of one kind, size and group, as often as it ran. A kernel of
// NCCL also waits for ranks that come late, so the shortest is nearest to what
// the network takes.
struct KinetoCollective {
  CollectiveKind kind{};
  Bytes bytes;  // Size of the buffer, as nccl-tests counts it.
  std::string group;
  int64_t num_ranks = 0;
  std::vector<RankId> ranks;  // Ascending; empty if the trace does not say.
  std::vector<TimePs> times;  // Ascending.
};

// All kernels of one name.
struct KinetoKernel {
  std::string name;
  bool is_communication = false;  // Of NCCL, RCCL, NVSHMEM or DeepEP.
  int64_t count = 0;
  TimePs time;
};

struct KinetoProfile {
  std::string gpu;    // Name of the first GPU; empty if the trace does not say.
  uint32_t rank = 0;  // In the job; 0 if the trace does not say.
  int64_t num_steps = 1;  // Iterations in the trace; 1 if none is marked.
  std::vector<KinetoProduct> products;        // Most time first.
  std::vector<KinetoCollective> collectives;  // Most time first.
  std::vector<KinetoKernel> kernels;          // Most time first.
  // Kernels of NCCL without the name or size of their collective.
  int64_t num_unknown_collectives = 0;
  int64_t num_unknown_products = 0;  // Of shapes or types that do not fit.
  int64_t num_untimed_kernels = 0;   // Without a duration up to 1000 s.
  // Kernels that compute; those of NCCL, RCCL, NVSHMEM and DeepEP do not.
  int64_t num_computing_kernels = 0;
  int64_t num_unplaced_kernels = 0;  // Those without a begin or a duration.
  // Time in which at least one kernel that computes ran, of all iterations.
  TimePs computing;
  // Products without shapes: the profiler ran without record_shapes=True.
  bool lacks_shapes = false;
};

// Parses `contents`, JSON or JSON that gzip has packed; `file` names it in
// messages.
//
// Errors: those of ReadKinetoEvents(); InvalidArgument "FILE: ..." for a trace
// without kernels of a GPU.
absl::StatusOr<KinetoProfile> ParseKinetoProfile(std::string_view file,
                                                 std::string_view contents);

}  // namespace astra

#endif  // WORKLOAD_TRACES_KINETO_PROFILE_H_
