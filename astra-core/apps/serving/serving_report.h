// Writes what became of served requests: the page for the screen, and JSON.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "workload/serving/metrics.h"

namespace astra {

// A row of the table of latencies. `figures` must outlive it.
struct NamedFigures {
  std::string_view name;
  std::string_view meaning;
  const TimeFigures& figures;
};
std::vector<NamedFigures> FiguresIn(const ServingSummary& summary);

// Returns limits in words, such as "ttft 500 ms, tpot 10 ms".
std::string DescribeLimits(const LatencyLimits& limits);

// Returns the first lines of the page for the screen: what serves the requests.
std::string DescribeDeployment(const SimaiServingOptions& options);

// Returns the rates of output tokens in words: all, of a GPU, and of a user if
// any request has a second token.
std::string DescribeOutput(const SimaiServingOptions& options,
                           const ServingSummary& summary);

// Returns the page for the screen. `setup` may be null.
std::string DescribeServing(const SimaiServingOptions& options,
                            const ServingRun& run,
                            const ServingSetup* setup = nullptr);

// Returns the last words of the page, which name the main results.
std::string ServingResult(const ServingRun& run);

// Returns metrics.csv: the figures of MetricsCsv(), rates for each GPU and each
// user, and what the steps' time is spent on.
std::string ServingMetricsCsv(const SimaiServingOptions& options,
                              const ServingRun& run);

// Returns run.json of one load. `setup` may be null.
std::string ServingRunJson(const SimaiServingOptions& options,
                           const ServingRun& run,
                           const ServingSetup* setup = nullptr);

// Returns run.json of a list of loads: the deployment and the limits.
std::string ServingCurveJson(const SimaiServingOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_REPORT_H_
