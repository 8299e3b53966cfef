// serving.html: what became of served requests, as one page that needs no other
// file and no network.
//
// clang-format off
//   one load          latencies and their distributions; sequences, cache and
//                     rate over time; what bounds the steps
//   a list of loads   throughput over interactivity; time to the first token
//                     over requests a second; goodput; what bounds the steps;
//                     the columns of curve.csv
// clang-format on
//
// Each chart has its numbers in a table below it, which opens on request and
// needs no script.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PAGE_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PAGE_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/apps/serving/load_series.h"
#include "astra-core/apps/serving/other_curve.h"
#include "astra-core/apps/serving/serving_curve.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/simai_serving_options.h"

namespace astra {

// Returns the page of one load. `bins` are those of its LoadSeries.
std::string ServingPage(const SimaiServingOptions& options,
                        const ServingRun& run, absl::Span<const LoadBin> bins);

// Returns the page of a list of loads. Requires a point. `others` are drawn
// beside it.
std::string CurvePage(const SimaiServingOptions& options,
                      absl::Span<const CurvePoint> points,
                      absl::Span<const OtherCurve> others);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PAGE_H_
