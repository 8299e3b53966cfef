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

// The interval of the options, or the best one, then shorter and longer ones.
std::vector<GoodputPoint> GoodputPoints(const SimaiGoodputOptions& options);

// The file, by interval.
std::string GoodputCsv(absl::Span<const GoodputPoint> points);

// What is printed of the first point.
std::string DescribeGoodput(const SimaiGoodputOptions& options,
                            const GoodputPoint& point);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GOODPUT_GOODPUT_REPORT_H_
