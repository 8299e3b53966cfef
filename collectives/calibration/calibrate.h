// Fits the constants of a system that only measurements tell: least times of
// collectives, latencies, and the paces of algorithms (system_spec.h).
//
// Minimised is the sum, over the observations, of the Huber loss of
//
//   e = log(predicted / measured)
//
// so that twice too long is as bad as half as long, small messages count as
// much as large ones, and outliers (|e| above 0.1) pull only linearly. To it
// comes a pull towards the constants that the system had: each counts as one
// more observation, which is off by the median error where the constant is off
// by a factor of 2.7. It decides where the observations, with their noise, do
// not.
//
// The search is over the logarithms of the constants. Each round measures how
// the predictions change with every constant, leaves out those that matter
// little (below), and takes a damped Gauss-Newton step that is kept within
// bounds and only taken if it is an improvement. Steps of all constants at once
// are needed because efficiency and ramp make up for one another over much of
// the range of sizes; one at a time hardly gets on. Nothing is random.
//
// A constant is left alone unless changing it by 10 % changes a prediction by
// more than 1 %. Those that may be 0 are changed by a little more, as
// calibrated_constants.h says, and the size of a ramp goes with the ramp. So
// observations within one server leave the transport alone, and small messages
// the efficiency.
//
// Source: J. J. More, "The Levenberg-Marquardt algorithm: implementation and
// theory", 1978; P. Huber, "Robust Estimation of a Location Parameter", 1964.

#ifndef COLLECTIVES_CALIBRATION_CALIBRATE_H_
#define COLLECTIVES_CALIBRATION_CALIBRATE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/calibration/observations.h"
#include "collectives/measurements/error_summary.h"
#include "collectives/systems/system_spec.h"

namespace astra {

struct FittedConstant {
  std::string name;  // "interconnect ring efficiency"
  double before = 0;
  double after = 0;
};

struct Residuals {
  std::vector<double> errors;  // By observation: signed, in percent.
  ErrorSummary summary;
};

struct SystemCalibration {
  // Fitted constants have four significant digits. The `origin` of a part that
  // has some says so.
  SystemSpec system;
  std::vector<FittedConstant> constants;  // No others were changed.
  Residuals before;
  Residuals after;
};

// `system` with its constants fitted to `observations`.
//
// Errors: InvalidArgument for no observations; "observation N: ..." (from 1)
// for one with fewer than 2 GPUs, less than 1 byte, or a time that is not above
// 0, and with the errors of BuildSystemTopology and CollectiveTimes.
absl::StatusOr<SystemCalibration> Calibrate(
    const SystemSpec& system, absl::Span<const Observation> observations);

// Fewer measurements than this for each fitted constant leave the fit open: its
// errors then tell nothing about sizes that were not measured.
constexpr size_t kRowsPerConstant = 2;

// Returns true if there are kRowsPerConstant measurements for each constant.
bool IsDetermined(const SystemCalibration& calibration);

// The errors before and after, and a line for each constant that was fitted.
std::string CalibrationText(const SystemCalibration& calibration);

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_CALIBRATE_H_
