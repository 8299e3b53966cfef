// The result files of a serving run, as CSV text: requests.csv and steps.csv
// row by row, since they may be long, and metrics.csv at the end.
//
//   std::string text = RequestsHeader();
//   AppendRequestRow(result, limits, &text);     // In OnRequest().
//
// Times are in microseconds with six decimals, which are exact. To add a
// column, add a line to the array of its file.

#ifndef WORKLOAD_SERVING_SERVING_TABLES_H_
#define WORKLOAD_SERVING_SERVING_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "workload/serving/metrics.h"
#include "workload/serving/request.h"
#include "workload/serving/simulation.h"

namespace astra {

// A column, or a line of metrics.csv, for the dictionary of results.
struct ServingColumn {
  std::string_view file;
  std::string_view name;
  std::string_view unit;  // Empty if there is none.
  std::string_view meaning;
};

// Returns all columns, in the order of the files. A latency of metrics.csv
// comes once; its lines end in _mean, _p50, _p90, _p95, _p99 and _max.
std::vector<ServingColumn> ServingColumns();

std::string RequestsHeader();
void AppendRequestRow(const RequestResult& result, const LatencyLimits& limits,
                      std::string* text);

std::string StepsHeader();
void AppendStepRow(const StepRecord& step, std::string* text);

// metric,unit,value: a line for each figure, as in "ttft_p90,us,1234.5".
std::string MetricsCsv(const ServingSummary& summary);

}  // namespace astra

#endif  // WORKLOAD_SERVING_SERVING_TABLES_H_
