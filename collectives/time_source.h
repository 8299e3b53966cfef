// Where the time of a collective comes from.

#ifndef COLLECTIVES_TIME_SOURCE_H_
#define COLLECTIVES_TIME_SOURCE_H_

#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"

namespace astra {

enum class CollectiveTimeSource : uint8_t {
  kModel,         // The model alone: nothing was measured for the group.
  kMeasured,      // The size was measured.
  kInterpolated,  // The size lies between two measured sizes.
  kBeyond,        // The model, scaled to the nearest measured size.
};

// Returns the name in results: "model", "measured", "interpolated" or "scaled".
constexpr std::string_view Name(CollectiveTimeSource source) {
  switch (source) {
    case CollectiveTimeSource::kModel:
      return "model";
    case CollectiveTimeSource::kMeasured:
      return "measured";
    case CollectiveTimeSource::kInterpolated:
      return "interpolated";
    case CollectiveTimeSource::kBeyond:
      return "scaled";
  }
  ASTRA_CHECK(false, "source {}", static_cast<int>(source));
}

}  // namespace astra

#endif  // COLLECTIVES_TIME_SOURCE_H_
