// The sizes of messages as a distribution, in the form in which papers on
// congestion control publish them: the share of messages that are no larger
// than a size.
//
//   # bytes   percent
//   0         0
//   10000     15
//   30000000  100
//
// A size lies uniformly between two of these lines. The first line has 0
// percent, the last 100; both columns increase, sizes may also be equal to jump
// there. A drawn size has at least one byte. "#" begins a comment.
//
// Source of the form: traffic_gen of github.com/alibaba-edu/
// High-Precision-Congestion-Control (Y. Li et al., "HPCC: high precision
// congestion control", SIGCOMM 2019).

#ifndef NETWORK_FRONTENDS_TRAFFIC_FLOW_SIZES_H_
#define NETWORK_FRONTENDS_TRAFFIC_FLOW_SIZES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

class FlowSizes {
 public:
  // Every message has `bytes`.
  static FlowSizes All(Bytes bytes);

  // Parses a file of the form above; `file` names it in messages.
  //
  // Errors: InvalidArgument "FILE:LINE:COLUMN: ...".
  static absl::StatusOr<FlowSizes> Parse(std::string_view file,
                                         std::string_view contents);

  // Returns the size that the share `share` of the messages does not exceed,
  // rounded to whole bytes. Requires 0 <= share <= 1.
  Bytes Quantile(double share) const;

  double mean_bytes() const { return mean_bytes_; }

 private:
  struct Point {
    double bytes;
    double share;  // Of the messages with at most so many bytes.
  };

  explicit FlowSizes(std::vector<Point> points);

  std::vector<Point> points_;  // Two or more; shares from 0 to 1.
  double mean_bytes_ = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_TRAFFIC_FLOW_SIZES_H_
