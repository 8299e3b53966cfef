// The time of an operator from measurements, as far as there are any.

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

// Answers with the first of these that there is, for samples of the operator's
// OperatorClass:
//
//   kMeasured      the sample of this shape on this GPU
//   kInterpolated  between two samples on this GPU, at most a factor of 2
//                  apart, which differ from the shape and from each other in
//                  one dimension only: on the line through both times
//   kInterpolated  the nearest sample on this GPU, where every dimension is
//                  within the range that was measured, scaled
//   kExtrapolated  the same, where a dimension is out of that range
//   kCarriedOver   the nearest sample on another GPU, where every dimension is
//                  within the range that was measured there, scaled
//   kRoofline      what the roofline model of this GPU says
//
// To scale a sample is to multiply what the roofline model of this GPU says of
// the shape by the sample's time over what the roofline model of the sample's
// GPU says of the sample: the share of the roofline that a kernel reaches is
// taken to be the same. Hence only samples count that are bound by the same as
// the shape. The nearest of them is the one whose dimensions differ by the
// smallest factor, all factors multiplied.
class MeasuredModel : public ComputeModel {
 public:
  // By name of the GPU, as the samples have it.
  using Rooflines = std::map<std::string, const ComputeModel*>;

  // Requires rooflines.count(gpu) == 1. Samples of GPUs without a roofline
  // model are not carried over. `measured` and the models must outlive this.
  MeasuredModel(std::string gpu, const MeasuredOperators& measured,
                Rooflines rooflines);

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  struct Wanted;

  // What the roofline model of its GPU says of a sample.
  struct Reached {
    Dimensions dimensions{};
    double share = 0;        // Time over time of the roofline model.
    std::string_view bound;  // Empty: there is no such model.
  };
  struct Nearest {
    size_t sample = 0;
    double distance = 0;  // The logarithm of the factor.
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
