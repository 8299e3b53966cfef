// Lists the constants of a system that may be fitted to measurements.

#ifndef COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_
#define COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "collectives/systems/system_spec.h"

namespace astra {

// Names of patterns that are not among NCCL's algorithms. registry.h has the
// names of NCCL's algorithms.
inline constexpr std::string_view kDirectPattern = "direct";
inline constexpr std::string_view kSendRecvPattern = "send_recv";
inline constexpr std::string_view kSymmetricPattern = "symmetric";

struct CalibratedConstant {
  std::string name;  // Such as "interconnect ring efficiency".
  double* value;     // Points to the value in the system.
  double min;
  double max;
  double offset;             // See coordinate().
  bool of_transport;         // The constant matters only between servers.
  std::string_view pattern;  // Pattern of its pace; empty: none.
  // True for the size of a ramp, which has an effect only with the ramp.
  bool goes_with_previous;

  // Returns the coordinate of a fit, log(value + offset). The offset allows
  // values of 0.
  double coordinate(double at) const;
  double ValueAt(double coordinate) const;  // Within `min` and `max`.
};

// Offsets of constants that may be 0. At a value of 0, a step of 10 % is a
// tenth of the offset.
inline constexpr double kRampOffsetUs = 100;
inline constexpr double kTransportRampOffsetUs = 1000;
inline constexpr double kLatencyOffsetUs = 10;
inline constexpr double kSpreadOffset = 0.5;

// Returns the constants of `system` in an order that is the same for all
// systems. `system` must stay in place while the list is used.
std::vector<CalibratedConstant> CalibratedConstantsOf(SystemSpec& system);

// Returns the paces to which the constants belong.
std::vector<Pace*> PacesOf(SystemSpec& system);

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_CALIBRATED_CONSTANTS_H_
