#include "workload/operators/fitted_operators.h"

#include <algorithm>

namespace astra {

FittedFeatures FittedFeaturesOf(const Operator& op) {
  FittedFeatures features;
  const Dimensions sizes = DimensionsOf(op.shape);
  std::transform(sizes.begin(), sizes.end(), features.begin(),
                 [](int64_t size) { return static_cast<double>(size); });
  features[sizes.size()] = Flops(op);
  features[sizes.size() + 1] = BytesMoved(op);
  return features;
}

const FittedClass* FittedOperators::Find(const OperatorClass& kind) const {
  const auto found = std::lower_bound(
      classes.begin(), classes.end(), kind,
      [](const FittedClass& a, const OperatorClass& b) { return a.kind < b; });
  return found == classes.end() || found->kind != kind ? nullptr : &*found;
}

double FittedOperators::BoundOf(const Operator& op) const {
  constexpr double kTera = 1e12, kGiga = 1e9;
  return std::max(Flops(op) / (peak_tflops * kTera),
                  BytesMoved(op) / (memory_gb_per_s * kGiga));
}

}  // namespace astra
