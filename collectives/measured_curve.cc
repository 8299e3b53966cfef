#include "collectives/measured_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

double LogOf(Bytes bytes) {
  return std::log(static_cast<double>(bytes.count()));
}

// Returns the time of a size between the measured sizes `i` and `i` + 1.
double Interpolated(const MeasuredCurve& curve, size_t i, Bytes bytes) {
  const double begin = LogOf(curve.sizes[i]);
  const double share =
      (LogOf(bytes) - begin) / (LogOf(curve.sizes[i + 1]) - begin);
  const double first = std::log(curve.times_us[i]);
  const double last = std::log(curve.times_us[i + 1]);
  return std::exp(first + share * (last - first));
}

}  // namespace

const MeasuredCurve* FindCurve(const MeasuredCurves& curves,
                               const MeasuredGroup& group) {
  auto found = curves.find(group);
  if (found == curves.end() && IsAllToAll(group.kind)) {
    MeasuredGroup all_to_all = group;
    all_to_all.kind = CollectiveKind::kAllToAll;
    found = curves.find(all_to_all);
  }
  return found == curves.end() ? nullptr : &found->second;
}

absl::StatusOr<SourcedTime> MeasuredTimeOf(
    const MeasuredCurve& curve, Bytes bytes,
    absl::FunctionRef<absl::StatusOr<double>(Bytes)> model_us) {
  ASTRA_CHECK(
      !curve.sizes.empty() && curve.sizes.size() == curve.times_us.size(),
      "{} sizes and {} times", curve.sizes.size(), curve.times_us.size());
  const auto found =
      std::lower_bound(curve.sizes.begin(), curve.sizes.end(), bytes);
  const auto next = static_cast<size_t>(found - curve.sizes.begin());
  if (found != curve.sizes.end() && *found == bytes) {
    return SourcedTime{curve.times_us[next], CollectiveTimeSource::kMeasured};
  }
  if (next > 0 && next < curve.sizes.size()) {
    return SourcedTime{Interpolated(curve, next - 1, bytes),
                       CollectiveTimeSource::kInterpolated};
  }
  const size_t nearest = next == 0 ? 0 : next - 1;
  const Bytes boundary = curve.sizes[nearest];
  ASTRA_ASSIGN_OR_RETURN(const double boundary_us, model_us(boundary));
  if (boundary_us <= 0) {
    return absl::FailedPreconditionError(
        fmt::format("the model takes {} us for {} B, and cannot be scaled to "
                    "the measured {} us",
                    boundary_us, boundary.count(), curve.times_us[nearest]));
  }
  ASTRA_ASSIGN_OR_RETURN(const double bytes_us, model_us(bytes));
  return SourcedTime{bytes_us * (curve.times_us[nearest] / boundary_us),
                     CollectiveTimeSource::kBeyond};
}

}  // namespace astra
