// Fits decision trees to measured operators of one GPU, for programs that time
// operators.

#ifndef WORKLOAD_REGRESSORS_OPERATOR_TREES_H_
#define WORKLOAD_REGRESSORS_OPERATOR_TREES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/operators/fitted_operators.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/measured_operators.h"
#include "workload/regressors/tree_model.h"

namespace astra {

// How far the trees of a class are off on samples that were held out.
struct ClassErrors {
  OperatorClass kind;
  HeldOutErrors errors;
};

struct FittedTrees {
  FittedOperators operators;
  std::vector<ClassErrors> errors;  // One for each class, in the same order.
};

// Fits the trees of each class of operators among `samples` that has been
// measured on `gpu` with at least kLeastSamples shapes. The trees learn the
// share of the bound (fitted_operators.h) that was measured, so that they need
// not learn how time grows with size. A warning names each class that is left
// out, because it has too few shapes or because its trees are off by more than
// kWorstError in the mean on samples that were held out; another one counts the
// samples of other GPUs, which are left out, too.
//
// Errors: InvalidArgument if no class is left; those of CrossValidate with
// `folds`.
constexpr size_t kLeastSamples = 20;
constexpr double kWorstError = 0.3;
absl::StatusOr<FittedTrees> FitOperators(std::vector<OperatorSample> samples,
                                         const GpuSpec& gpu, TreeKind kind,
                                         size_t folds, Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_OPERATOR_TREES_H_
