// Times operators by trees that were fitted to measurements.

#ifndef WORKLOAD_OPERATORS_FITTED_MODEL_H_
#define WORKLOAD_OPERATORS_FITTED_MODEL_H_

#include <utility>

#include "workload/operators/compute_model.h"
#include "workload/operators/fitted_operators.h"
#include "workload/operators/operator.h"

namespace astra {

// Answers with the trees of the operator's class: "interpolated" where each of
// its sizes is among those that were sampled, else "extrapolated", with an
// error of at least 15 %, as MeasuredModel has it. Operators of other classes
// take the time of another model.
class FittedModel : public ComputeModel {
 public:
  // `others` must outlive this object.
  FittedModel(FittedOperators operators, const ComputeModel& others)
      : operators_(std::move(operators)), others_(others) {}

  const FittedOperators& operators() const { return operators_; }

  OperatorTime TimeOf(const Operator& op) const override;

 private:
  FittedOperators operators_;
  const ComputeModel& others_;
};

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_FITTED_MODEL_H_
