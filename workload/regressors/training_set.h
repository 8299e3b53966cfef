// Samples to which a regressor is fitted: sizes, and how long they took.

#ifndef WORKLOAD_REGRESSORS_TRAINING_SET_H_
#define WORKLOAD_REGRESSORS_TRAINING_SET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace astra {

struct TrainingSet {
  std::vector<std::string> features;  // Names, such as "rows"; at least one.
  std::vector<double> values;         // features.size() for each sample.
  std::vector<double> times_us;       // One for each sample; above 0.

  size_t size() const { return times_us.size(); }
  absl::Span<const double> sample(size_t i) const {
    return absl::MakeConstSpan(values).subspan(i * features.size(),
                                               features.size());
  }
};

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_TRAINING_SET_H_
