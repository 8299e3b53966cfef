// The answers of a list of loads: a line for each on the screen, and
// curve.csv.
//
// clang-format off
//   interactivity     output tokens a second that a user sees: 1 / mean tpot
//   rate per GPU      output tokens a second of the deployment / its GPUs
// clang-format on
//
// To add a column, add a line to the array in serving_curve.cc. Percentiles of
// the latencies come from an array of their own.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_CURVE_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/simai_serving_options.h"

namespace astra {

// A load and what became of its requests, on so many GPUs. `run` must outlive
// the point.
struct CurvePoint {
  LoadPoint load;
  const ServingRun& run;
  int64_t gpus = 1;

  double OutputRatePerGpu() const;  // Tokens per second.
};

// Returns 1 / mean tpot, in tokens per second; nothing if no request has two
// tokens.
std::optional<double> Interactivity(const ServingSummary& summary);

// Return the names of the columns of curve.csv, and the cells of a point.
std::vector<std::string> CurveNames();
std::vector<std::string> CurveCells(const CurvePoint& point);

// Returns curve.csv, with a row for each point.
std::string CurveCsv(absl::Span<const CurvePoint> points);

// Return the head of the table for the screen, and the line of a point.
std::string CurveHeader(const SimaiServingOptions& options);
std::string CurveLine(const CurvePoint& point);

// Returns the last words of the page for the screen: the point with the highest
// goodput, or the highest output rate without limits. Of equal points it is the
// first. Requires a point.
std::string CurveResult(absl::Span<const CurvePoint> points);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_CURVE_H_
