// How long an operator takes on a GPU, and where that number comes from.

#ifndef WORKLOAD_OPERATORS_COMPUTE_MODEL_H_
#define WORKLOAD_OPERATORS_COMPUTE_MODEL_H_

#include <cstdint>
#include <string_view>

#include "astra-core/base/units.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// From the most to the least trusted.
enum class TimeSource : uint8_t {
  kMeasured,      // This shape, on this GPU.
  kInterpolated,  // Between measured shapes, on this GPU.
  kExtrapolated,  // From the nearest measured shape, which is not near.
  kCarriedOver,   // Measured on another GPU; scaled by what bounds it on both.
  kRoofline,      // The formulas in roofline.h, calibrated.
};
std::string_view Name(TimeSource source);  // "measured", ...

struct OperatorTime {
  TimePs time;
  TimeSource source = TimeSource::kRoofline;
  // What bounds it: "compute", "memory" or "launch". A static string.
  std::string_view bound;
  double error = 0;  // The error class: 0.05 for +-5 %.
};

// What answers. The answer is always above 0.
class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  virtual OperatorTime TimeOf(const Operator& op) const = 0;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_COMPUTE_MODEL_H_
