// Holds the measured times of one collective over sizes, and answers for the
// sizes between and beyond them.
//
// Usage:
//   ASTRA_ASSIGN_OR_RETURN(const SourcedTime time,
//                          MeasuredTimeOf(curve, bytes, model_us));
//   // time.time_us; Name(time.source) is the text for a column of results.
//
// clang-format off
// Model, with sizes s[0] < ... < s[n] and measured times t[0] ... t[n]:
//   S = s[i]            t[i]
//   s[i] < S < s[i+1]   exp(log t[i] + f log(t[i+1] / t[i]))
//                       with f = log(S / s[i]) / log(s[i+1] / s[i])
//   S < s[0]            model(S) t[0] / model(s[0])
//   S > s[n]            model(S) t[n] / model(s[n])
// clang-format on
//
// The result is continuous in S wherever the model is: at a boundary, both the
// ratio and the interpolation give the measured time. The ratio is that of the
// nearest measured size, because the error of a model changes with the size.

#ifndef COLLECTIVES_MEASURED_CURVE_H_
#define COLLECTIVES_MEASURED_CURVE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/time_source.h"

namespace astra {

// The measured times of one collective on one number of servers and GPUs.
struct MeasuredCurve {
  std::vector<Bytes> sizes;      // At least one; ascending, each 1 or more.
  std::vector<double> times_us;  // Time of each size; above 0.
  std::string source;            // Names of the files, separated by ", ".
};

// Names the collective and the group to which a curve belongs.
struct MeasuredGroup {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t num_servers = 1;
  uint32_t gpus_per_server = 1;

  friend auto operator<=>(const MeasuredGroup&, const MeasuredGroup&) = default;
};

using MeasuredCurves = std::map<MeasuredGroup, MeasuredCurve>;

// Returns the curve of a group, or null if nothing was measured for it. A
// dispatch or a combine without a curve of its own has that of an all-to-all.
const MeasuredCurve* FindCurve(const MeasuredCurves& curves,
                               const MeasuredGroup& group);

struct SourcedTime {
  double time_us = 0;
  CollectiveTimeSource source = CollectiveTimeSource::kModel;
};

// Returns the time of `bytes` by the formula above. `model_us` returns the
// model's time of a size in microseconds. It is called only for sizes outside
// of the measured ones: for `bytes` and for the nearest measured size.
//
// Errors: those of `model_us`; FailedPrecondition if the model takes no time
// for the nearest measured size, so that no ratio exists.
absl::StatusOr<SourcedTime> MeasuredTimeOf(
    const MeasuredCurve& curve, Bytes bytes,
    absl::FunctionRef<absl::StatusOr<double>(Bytes)> model_us);

}  // namespace astra

#endif  // COLLECTIVES_MEASURED_CURVE_H_
