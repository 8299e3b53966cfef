// The results of simai_goodput: a table of intervals, and the summary.

#ifndef ASTRA_CORE_APPS_GOODPUT_GOODPUT_REPORT_H_
#define ASTRA_CORE_APPS_GOODPUT_GOODPUT_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/goodput/simai_goodput_options.h"
#include "astra-core/goodput/goodput.h"

namespace astra {

struct GoodputPoint {
  ExpectedGoodput expected;
  GoodputTrials simulated;
};

// Returns a point for the interval of the options, or for the best one, then
// points for shorter and longer intervals.
std::vector<GoodputPoint> GoodputPoints(const SimaiGoodputOptions& options);

// Returns the contents of the file, which has a line for each interval.
std::string GoodputCsv(absl::Span<const GoodputPoint> points);

// Returns run.json: the numbers of `point`, the first one.
std::string GoodputRunJson(const GoodputPoint& point);

// Returns the lines that the program prints about `point`, the first one.
std::string DescribeGoodput(const SimaiGoodputOptions& options,
                            const GoodputPoint& point);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GOODPUT_GOODPUT_REPORT_H_
