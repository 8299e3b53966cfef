// Predicts the time of an operator from measurements, if there are any.

#ifndef WORKLOAD_OPERATORS_MEASURED_MODEL_H_
#define WORKLOAD_OPERATORS_MEASURED_MODEL_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/operators/compute_model.h"
#include "workload/operators/measured_operators.h"
#include "workload/operators/operator.h"

namespace astra {

// Uses the samples of the operator's OperatorClass and answers with the first
// of these that exists:
//
//   kMeasured      the sample of this shape on this GPU
//   kInterpolated  the line through two samples on this GPU that are at most a
//                  factor of 2 apart and differ from the shape and from each
//                  other in only one dimension
//   kInterpolated  the nearest sample on this GPU, scaled, where every
//                  dimension is within the measured range
//   kExtrapolated  the nearest sample on this GPU, scaled, where a dimension is
//                  outside the measured range
//   kCarriedOver   the nearest sample on another GPU, scaled, where every
//                  dimension is within the range measured there
//   kRoofline      the roofline model of this GPU
//
// Scaling assumes that a kernel reaches the same share of the roofline at both
// shapes. The roofline time of the shape on this GPU is multiplied by the time
// of the sample over its own roofline time, on the GPU of the sample. Only
// samples with the same bound as the shape count. The nearest sample is the one
// with the smallest product of factors by which its dimensions differ.
class MeasuredModel : public ComputeModel {
 public:
  // Roofline models by GPU name, spelt as in the samples.
  using Rooflines = std::map<std::string, const ComputeModel*>;

  // Requires rooflines.count(gpu) == 1. Samples of GPUs without a roofline
  // model are not carried over. `measured` and the models must outlive this
  // object.
  MeasuredModel(std::string gpu, const MeasuredOperators& measured,
                Rooflines rooflines);

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  struct Wanted;

  // A sample compared with the roofline model of its GPU.
  struct Reached {
    Dimensions dimensions{};
    double share = 0;        // Measured time over roofline time.
    std::string_view bound;  // Empty: the GPU has no roofline model.
  };
  struct Nearest {
    size_t sample = 0;
    double distance = 0;  // Logarithm of the factor.
    bool is_inside = false;
  };

  std::optional<size_t> FindExact(const Wanted& wanted) const;
  std::optional<TimePs> Interpolate(const Wanted& wanted) const;
  std::optional<Nearest> FindNearest(MeasuredOperators::Range range,
                                     const Wanted& wanted) const;
  std::optional<Nearest> FindElsewhere(const Wanted& wanted) const;
  OperatorTime Scale(const Nearest& nearest, const Wanted& wanted,
                     TimeSource source) const;

  std::string gpu_;
  const MeasuredOperators& measured_;
  Rooflines rooflines_;
  std::vector<Reached> reached_;  // By position of the sample.
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_MEASURED_MODEL_H_
