// A curve that an earlier run left in its folder, to be drawn beside another.

#ifndef ASTRA_CORE_APPS_SERVING_OTHER_CURVE_H_
#define ASTRA_CORE_APPS_SERVING_OTHER_CURVE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace astra {

struct OtherPoint {
  std::string load;           // Its concurrency or its rate, as in curve.csv.
  double requests_per_s = 0;  // That arrive; of a closed loop, that end.
  double output_tokens_per_s_per_gpu = 0;
  // None where no request has a second token.
  std::optional<double> output_tokens_per_s_per_user;
  double ttft_p50_ms = 0;
};

struct OtherCurve {
  std::string name;  // The last part of the folder's path.
  std::vector<OtherPoint> points;
};

// Reads curve.csv of `folder`. Errors: those of ReadFile and CsvReader;
// InvalidArgument for a file without a row.
absl::StatusOr<OtherCurve> ReadOtherCurve(const std::string& folder);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_OTHER_CURVE_H_
