// Describes the families of kernels that tables measure, one row each: what its
// columns are, how fast a GPU could run it at best, and how a time is found
// between, beside and beyond what was measured.

#ifndef WORKLOAD_KERNELS_FAMILY_H_
#define WORKLOAD_KERNELS_FAMILY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "workload/kernels/expert_load.h"
#include "workload/kernels/kernel_call.h"
#include "workload/kernels/kernel_element.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

struct KernelAxis {
  std::string_view column;
  double offset = 0;         // Added before a logarithm is taken.
  bool is_discrete = false;  // Values are kinds; nothing lies between them.
  // The square root of the time is linear between points, not the time.
  bool is_quadratic = false;
};

// How times of one shape from two backends become one on a GPU of another
// architecture.
enum class BackendMerge : uint8_t { kOwn, kGeometricMean, kLesser };

struct KernelFamily {
  std::string_view name;
  std::string_view op_names;  // Names in a column op_name, with spaces between.
  absl::Span<const std::string_view> words;
  absl::Span<const std::string_view> sizes;
  absl::Span<const KernelAxis> axes;
  // The axis that is interpolated first where the point is on the grid of the
  // other one.
  size_t first_axis = 0;
  // Leading sizes that shapes of one model share: leaving one shape out leaves
  // out all lines that agree in them.
  size_t group_sizes = 0;

  // Microseconds at the peaks: the larger of computation and memory.
  double (*bound_us)(const KernelCall& call, const KernelPeaks& peaks,
                     ExpertLoads& loads);

  // The place of a shape among others, for distances.
  size_t num_coordinates = 0;
  KernelCoordinates (*coordinates)(const KernelSizes& sizes);
  size_t num_neighbours = 0;
  double neighbour_error = 0.05;  // Median, with one shape left out.

  // Share of the inefficiency that another GPU's peaks change; see transfer.h.
  double transfer_power = 0.5;
  // The share of the BF16 peak that a GPU's file states for these kernels, by
  // which times are carried over within an architecture; null: there is none.
  double Calibration::*efficiency = nullptr;
  BackendMerge merge = BackendMerge::kOwn;
  bool has_kernels = false;           // Experts: lines say which kernel ran.
  std::string_view backend = "vllm";  // Whose surfaces count, unless told.
  // An element type for which the surfaces of `backend` have the time in which
  // the host starts a kernel, where that is longer than the kernel; empty if
  // there is none.
  std::string_view host_timed = {};
  // Engines bring kernels of their own, of which times differ by factors.
  bool is_of_engine = false;
};

// The values that a column of sizes or an axis may have.
struct KernelRange {
  double min = 0;
  double max = 0;
};
KernelRange RangeOfSize(std::string_view column);
KernelRange RangeOfAxis(const KernelAxis& axis);

absl::Span<const KernelFamily> KernelFamilies();

// Returns the family of that name, or nullptr.
const KernelFamily* FindKernelFamily(std::string_view name);

// Returns the family that rows with `op_name` belong to, or nullptr.
const KernelFamily* FamilyOfOpName(std::string_view op_name);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_FAMILY_H_
