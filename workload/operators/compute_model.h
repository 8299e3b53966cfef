// Computes how long an operator takes on a GPU, and tells the source of the
// time.

#ifndef WORKLOAD_OPERATORS_COMPUTE_MODEL_H_
#define WORKLOAD_OPERATORS_COMPUTE_MODEL_H_

#include <cstdint>
#include <string_view>

#include "astra-core/base/units.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// Where a time comes from, ordered from the most to the least trusted source.
enum class TimeSource : uint8_t {
  kMeasured,      // Measured for this shape on this GPU.
  kInterpolated,  // Between measured shapes on this GPU.
  kNeighbours,    // From the measured shapes nearest to this one.
  kExtrapolated,  // From the nearest measured shape, which is far.
  // From another element type on this GPU, scaled by what bounds it.
  kOtherPrecision,
  kCarriedOver,  // From another GPU, scaled by what bounds it on both.
  kRoofline,     // From the calibrated formulas in roofline.h.
};
std::string_view Name(TimeSource source);  // Returns "measured", ...

struct OperatorTime {
  TimePs time;
  TimeSource source = TimeSource::kRoofline;
  // What limits the operator: "compute", "memory" or "launch". A static string.
  std::string_view bound;
  double error = 0;  // Relative error of the time: 0.05 means +-5 %.
  // Name of the GPU that the time was carried over from, if known. It lives as
  // long as the model.
  std::string_view from = {};
  // The host takes so long to start the operator where no CUDA graph does. 0:
  // nobody measured it.
  TimePs host = {};
};

// A source of operator times. All times are above 0.
class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  virtual OperatorTime TimeOf(const Operator& op) const = 0;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_COMPUTE_MODEL_H_
