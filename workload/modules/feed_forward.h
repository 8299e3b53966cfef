// Builds the feed-forward part of a block: two matrices with a GELU between
// them, or three with a gate (SwiGLU).

#ifndef WORKLOAD_MODULES_FEED_FORWARD_H_
#define WORKLOAD_MODULES_FEED_FORWARD_H_

#include <vector>

#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "mlp_column" (the norm, the projection up and the activation) and
// "mlp_row" (the projection down and the residual).
std::vector<MockModule> FeedForwardModules(const ModelShape& model,
                                           const ModuleContext& context);

// Returns "shared_column" and "shared_row": the experts that process every
// token, as one feed-forward part. The router has already normed their input,
// and their output is added to that of the other experts. Requires experts with
// a shared_ffn.
std::vector<MockModule> SharedExpertModules(const ModelShape& model,
                                            const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_FEED_FORWARD_H_
