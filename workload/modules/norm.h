// RMS and layer norms, in front of what they normalise.

#ifndef WORKLOAD_MODULES_NORM_H_
#define WORKLOAD_MODULES_NORM_H_

#include "workload/models/model_spec.h"
#include "workload/modules/module_builder.h"

namespace astra {

// The norm of hidden states outside of tensor-parallel regions, and of the
// residual sum in front of it: reads and writes them once, keeps its input.
inline void AddNorm(const ModelSpec& model, ModuleBuilder& builder) {
  const int64_t elements = builder.context().split_tokens() * model.hidden;
  builder.Stream({.op = model.norm == Norm::kRms ? "rms_norm" : "layer_norm",
                  .elements = elements,
                  .forward = 2,
                  .backward = 3,
                  .saved_bytes = 2 * elements});
  builder.ReplicatedParameters(model.norm_bias ? 2 * model.hidden
                                               : model.hidden);
}

// The sum of a branch into the residual stream, perhaps with dropout, whose
// mask is a byte for each element.
inline void AddResidual(const ModelSpec& model, ModuleBuilder& builder) {
  const int64_t elements = builder.context().split_tokens() * model.hidden;
  builder.Stream({.op = model.dropout ? "dropout_add" : "residual_add",
                  .elements = elements,
                  .forward = 3,
                  .backward = 3,
                  .saved_bytes = model.dropout ? elements : 0});
}

}  // namespace astra

#endif  // WORKLOAD_MODULES_NORM_H_
