// The result files of a serving run, as CSV text: requests.csv and steps.csv
// row by row, since they may be long, and metrics.csv at the end.
//
//   std::string text = RequestsHeader();
//   AppendRequestRow(result, &text);             // In OnRequest().
//
// Times are in microseconds with six decimals, which are exact.

#ifndef WORKLOAD_SERVING_SERVING_TABLES_H_
#define WORKLOAD_SERVING_SERVING_TABLES_H_

#include <string>

#include "workload/serving/metrics.h"
#include "workload/serving/request.h"
#include "workload/serving/simulation.h"

namespace astra {

// The column tpot_us is empty for a request of one token.
std::string RequestsHeader();
void AppendRequestRow(const RequestResult& result, std::string* text);

std::string StepsHeader();
void AppendStepRow(const StepRecord& step, std::string* text);

// metric,unit,value: a line for each figure, as in "ttft_p90,us,1234.5".
std::string MetricsCsv(const ServingSummary& summary);

}  // namespace astra

#endif  // WORKLOAD_SERVING_SERVING_TABLES_H_
