// Adds RMS and layer norms, and the residual sums before them.

#ifndef WORKLOAD_MODULES_NORM_H_
#define WORKLOAD_MODULES_NORM_H_

#include "workload/modules/model_shape.h"
#include "workload/modules/module_builder.h"

namespace astra {

// Adds the norm of hidden states outside of tensor-parallel regions, including
// the residual sum before it: reads and writes them once and keeps its input.
// `part` tells which of a block's norms it is.
inline void AddNorm(const ModelShape& model, ModuleBuilder& builder,
                    RecomputeModule part = RecomputeModule::kLayerNorm) {
  const int64_t elements = builder.context().split_tokens() * model.hidden;
  builder.Begin(RecomputeModule::kLayerNorm);
  builder.Begin(part);
  builder.Stream({.op = model.norm == Norm::kRms ? "rms_norm" : "layer_norm",
                  .elements = elements,
                  .forward = 2,
                  .backward = 3,
                  .saved_bytes = 2 * elements});
  builder.End(part);
  builder.End(RecomputeModule::kLayerNorm);
  builder.ReplicatedParameters(model.norm_bias ? 2 * model.hidden
                                               : model.hidden);
}

// Adds a branch to the residual stream. With dropout, a mask of one byte for
// each element is kept.
inline void AddResidual(const ModelShape& model, ModuleBuilder& builder) {
  const int64_t elements = builder.context().split_tokens() * model.hidden;
  builder.Stream({.op = model.dropout ? "dropout_add" : "residual_add",
                  .elements = elements,
                  .forward = 3,
                  .backward = 3,
                  .saved_bytes = model.dropout ? elements : 0});
}

}  // namespace astra

#endif  // WORKLOAD_MODULES_NORM_H_
