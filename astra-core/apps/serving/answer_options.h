// Reads what simai_serving is asked to answer: for which loads, under which
// limits, and in which files.
//
//   --concurrency 1,2,4      a list of loads
//   --rate 0.5..8            0.5, 1, 2, 4, 8: doubled while below the last
//   --slo-ttft 500           limits in milliseconds

#ifndef ASTRA_CORE_APPS_SERVING_ANSWER_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_ANSWER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/command_line/command_line.h"
#include "workload/serving/metrics.h"

namespace astra {

// Most loads of a list.
inline constexpr size_t kMostPoints = 256;

struct AnswerOptions {
  LatencyLimits limits;
  bool writes_timeline = false;
  int64_t threads = 1;              // Changes no result.
  std::vector<std::string> curves;  // Folders whose curves are drawn too.
};

// Reads the loads of --concurrency, at most `most` requests in flight, or of
// --rate. Requires that one of the options was given.
//
// Errors: InvalidArgument with the option and the item for text that is no list
// of rising numbers above 0, and for more than kMostPoints of them.
absl::StatusOr<std::vector<LoadPoint>> ReadPoints(const CommandLine& flags,
                                                  int64_t most);

// Reads --slo-ttft, --slo-tpot and --slo-e2e. Errors: InvalidArgument for 0.
absl::StatusOr<LatencyLimits> ReadLimits(const CommandLine& flags);

// Reads the rest. Errors: InvalidArgument for a value out of its range, and for
// an option that has no effect on so many points.
absl::StatusOr<AnswerOptions> ReadAnswers(const CommandLine& flags,
                                          size_t num_points);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_ANSWER_OPTIONS_H_
