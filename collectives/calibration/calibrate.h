// Fits the constants of a system that only measurements tell: least times of
// collectives, latencies, and the paces of algorithms (system_spec.h).
//
// The fit minimises the sum, over the observations, of the Huber loss of
//
//   e = log(predicted / measured)
//
// so that twice the time is as bad as half of it, small messages count as much
// as large ones, and outliers (|e| above 0.1) pull only linearly. A second term
// pulls towards the former constants of the system: each counts as one more
// observation, with the same loss, which is off by the median error if the
// constant is off by a factor of 2.7. This term decides where the observations,
// with their noise, do not.
//
// The search is over the logarithms of the constants. Each round measures how
// the predictions change with every constant, leaves out constants that matter
// little (see below), and takes a damped Gauss-Newton step. A step stays within
// bounds and is taken only if it is an improvement. All constants change at
// once because efficiency and ramp compensate for one another over much of the
// range of sizes; steps of one at a time hardly make progress. Nothing is
// random.
//
// A constant is fitted only if changing it by 10 % changes a prediction by more
// than 1 %. Constants that may be 0 are changed by a little more, as
// calibrated_constants.h says, and the size of a ramp is fitted with the ramp.
// So observations within one server leave the transport alone, and small
// messages leave the efficiency alone.
//
// Errors of the rows that the constants were fitted to say little about other
// sizes. So the fit is repeated without some of the rows, kFolds times without
// every kFolds-th measurement or, with at most kMaxSingles measurements,
// without each one in turn. The errors of these fits on the rows that they did
// not see are `left_out`. Rows that repeat a measurement are left out together.
//
// Sources: J. J. More, "The Levenberg-Marquardt algorithm: implementation and
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
  std::string name;  // Such as "interconnect ring efficiency".
  double before = 0;
  double after = 0;
  bool of_transport = false;  // The constant matters only between servers.
};

struct Residuals {
  std::vector<double> errors;  // Signed errors in percent, by observation.
  ErrorSummary summary;
};

struct SystemCalibration {
  // Fitted constants have four significant digits. A part that has some says so
  // in its `origin`.
  SystemSpec system;
  std::vector<FittedConstant> constants;  // The fitted constants.
  // Number of different measurements: rows that differ only in their time count
  // once.
  size_t num_measurements = 0;
  Residuals before;
  Residuals after;
  // Errors of each row, predicted by a fit that did not see the row; empty with
  // one measurement.
  Residuals left_out;
};

// Number of fits that leave out a part of many measurements.
constexpr size_t kFolds = 5;

// Up to this many measurements, each is left out by itself.
constexpr size_t kMaxSingles = 10;

// Returns `system` with its constants fitted to `observations`.
//
// Errors: InvalidArgument without observations, or if more constants were
// fitted than there are different measurements; "observation N: ..." (from 1)
// for one with fewer than 2 GPUs, less than 1 byte, or a time that is not above
// 0, and with the errors of BuildSystemTopology and CollectiveTimes.
absl::StatusOr<SystemCalibration> Calibrate(
    const SystemSpec& system, absl::Span<const Observation> observations);

// Fewest measurements for each fitted constant. With fewer, the fit is open:
// its errors tell nothing about sizes that were not measured.
constexpr size_t kRowsPerConstant = 2;

// Returns true if there are kRowsPerConstant different measurements for each
// constant.
bool IsDetermined(const SystemCalibration& calibration);

// Returns the errors before, after and on rows that were left out, and a line
// for each fitted constant.
std::string CalibrationText(const SystemCalibration& calibration);

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_CALIBRATE_H_
