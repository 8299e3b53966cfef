#include "workload/operators/compute_model.h"

namespace astra {

std::string_view Name(TimeSource source) {
  switch (source) {
    case TimeSource::kMeasured:
      return "measured";
    case TimeSource::kInterpolated:
      return "interpolated";
    case TimeSource::kNeighbours:
      return "neighbours";
    case TimeSource::kExtrapolated:
      return "extrapolated";
    case TimeSource::kOtherPrecision:
      return "other precision";
    case TimeSource::kCarriedOver:
      return "carried over";
    case TimeSource::kRoofline:
      return "roofline";
  }
  return "";
}

}  // namespace astra
