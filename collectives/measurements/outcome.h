// Holds the prediction for one row of a table of measurements, and tells how
// far the prediction is off.

#ifndef COLLECTIVES_MEASUREMENTS_OUTCOME_H_
#define COLLECTIVES_MEASUREMENTS_OUTCOME_H_

#include <optional>
#include <string>

#include "collectives/measurements/measured_table.h"

namespace astra {

// The prediction for one row.
struct Outcome {
  double predicted_us = 0;
  std::string algorithm;  // Such as "Ring", or the name in registry.h.
  std::string protocol;
  std::string status = "ok";  // Or one line that says why there is none.

  bool ok() const { return status == "ok"; }
};

// Returns the signed error of a prediction, in percent of the measured time.
inline double ErrorPercent(const MeasuredRow& row, const Outcome& outcome) {
  return (outcome.predicted_us - row.time_us) / row.time_us * 100;
}

// Returns whether the algorithm that the row states was predicted; nullopt if
// the row states none or nothing was predicted.
std::optional<bool> AgreesOnAlgorithm(const MeasuredRow& row,
                                      const Outcome& outcome);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_OUTCOME_H_
