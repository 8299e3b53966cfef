// The sizes of the parallel dimensions, and of what an iteration repeats.

#ifndef WORKLOAD_PARALLEL_SIZES_H_
#define WORKLOAD_PARALLEL_SIZES_H_

#include <cstdint>
#include <optional>

namespace astra {

struct ParallelSizes {
  int64_t num_ranks = 1;
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t expert = 1;
  std::optional<int64_t> expert_tensor;  // ETP; none: the same as `tensor`.
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;  // Model chunks of each stage (vpp).
  int64_t micro_batches = 1;   // Gradient accumulation steps (ga).

  friend bool operator==(const ParallelSizes&, const ParallelSizes&) = default;
};

}  // namespace astra

#endif  // WORKLOAD_PARALLEL_SIZES_H_
