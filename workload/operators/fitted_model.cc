#include "workload/operators/fitted_model.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace astra {
namespace {

bool IsSampled(const FittedClass& fitted, const Dimensions& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!fitted.sizes[i].contains(sizes[i])) return false;
  }
  return true;
}

TimePs FromSeconds(double seconds) {
  constexpr double kMaxPs = 9e18;  // Below the limit of an int64_t.
  return TimePs(std::llround(std::clamp(seconds * kPsPerSecond, 1.0, kMaxPs)));
}

}  // namespace

OperatorTime FittedModel::TimeOf(const Operator& op) const {
  OperatorTime result = others_.TimeOf(op);
  const FittedClass* fitted = operators_.Find(ClassOf(op));
  if (fitted == nullptr) return result;
  const double share = std::exp(fitted->trees.Predict(FittedFeaturesOf(op)));
  result.time = FromSeconds(operators_.BoundOf(op) * share);
  if (const auto* stream = std::get_if<Stream>(&op.shape)) {
    constexpr int64_t kPsPerNs = 1000;
    result.time += TimePs(stream->host_ns * kPsPerNs);
  }
  constexpr double kLeastErrorBeyond = 0.15;
  const bool is_sampled = IsSampled(*fitted, DimensionsOf(op.shape));
  result.source =
      is_sampled ? TimeSource::kInterpolated : TimeSource::kExtrapolated;
  result.error =
      is_sampled ? fitted->error : std::max(kLeastErrorBeyond, fitted->error);
  result.from = {};
  return result;
}

}  // namespace astra
