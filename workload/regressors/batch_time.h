// The time of one batch as the training-time estimator (ICICLE,
// estimate-train-time) puts it together from the times of operators.
//
// clang-format off
//   T = (m - 1 + p) (max forward + max backward)
//       + all-reduce of DP of the first stage
//       + max over stages (all-gather of DP + optimizer)
//
//   p, m        stages, micro-batches
//   forward     of a stage: n layers; the first also the embedding and an
//               all-reduce, the last also its norm, the product with the
//               vocabulary and the loss; all but the last send to the next
//   backward    likewise; a layer repeats its forward pass, and all but the
//               first send to the stage before
//   n           with L = layers + 5: ceil(L / p) - 2 in the first stage,
//               floor(L / p) - 3 in the last, floor(L / p) in the others
// clang-format on
//
// Without data parallelism its collectives and the optimizer take no time.
// Groups of MP are neighbours; groups of DP have GPUS_PER_NODE / MP ranks in a
// node; messages between stages go between nodes.
//
// Source: the estimator's prediction.py.

#ifndef WORKLOAD_REGRESSORS_BATCH_TIME_H_
#define WORKLOAD_REGRESSORS_BATCH_TIME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/regressors/estimator_target.h"
#include "workload/regressors/operator_regressors.h"

namespace astra {

// A part of the time of a batch, such as "linear1 forward" or "stage 1
// backward".
struct BatchComponent {
  std::string name;
  double time_us = 0;
};

struct BatchTime {
  std::vector<BatchComponent> components;
  double total_us = 0;
};

// Returns the time of a batch of `target`. Errors: those of the regressors.
absl::StatusOr<BatchTime> BatchTimeOf(const EstimatorTarget& target,
                                      OperatorRegressors& operators,
                                      OperatorRegressors& collectives);

}  // namespace astra

#endif  // WORKLOAD_REGRESSORS_BATCH_TIME_H_
