// The constants of a system that may be fitted to measurements, as a list.

#ifndef COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_
#define COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "collectives/systems/system_spec.h"

namespace astra {

// Patterns beside those of algorithms, which have their names in registry.h.
inline constexpr std::string_view kDirectPattern = "direct";
inline constexpr std::string_view kSymmetricPattern = "symmetric";

struct CalibratedConstant {
  std::string name;  // "interconnect ring efficiency"
  double* value;     // In the system.
  double min;
  double max;
  double offset;             // See coordinate().
  bool of_transport;         // It matters only between servers.
  std::string_view pattern;  // Whose pace it is of; empty: none's.
  // The size of a ramp, which means something only with the ramp.
  bool goes_with_previous;

  // What a fit searches over: log(value + offset), where the offset lets values
  // be 0 that may be.
  double coordinate(double at) const;
  double ValueAt(double coordinate) const;  // Within `min` and `max`.
};

// Of a value of 0, a step of 10 % is a tenth of these.
inline constexpr double kRampOffsetUs = 100;
inline constexpr double kTransportRampOffsetUs = 1000;
inline constexpr double kLatencyOffsetUs = 10;

// In an order that is the same for all systems. `system` must stay in place
// while the list is used.
std::vector<CalibratedConstant> CalibratedConstantsOf(SystemSpec& system);

// The paces that they are of.
std::vector<Pace*> PacesOf(SystemSpec& system);

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_
