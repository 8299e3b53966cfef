// Adds GELU and SwiGLU.

#ifndef WORKLOAD_MODULES_ACTIVATION_H_
#define WORKLOAD_MODULES_ACTIVATION_H_

#include "workload/modules/module_builder.h"

namespace astra {

// Adds the activation of `elements` outputs and keeps its inputs, two for an
// output with a gate. With fp8_activation_inputs they are kept in FP8: the
// forward pass writes a byte more for each and the backward pass reads one
// less. The backward pass computes the gradients of all inputs from that of one
// output.
//
// Sources: Megatron-LM, --activation-func-fp8-input-store; DeepSeek-V3, arXiv
// 2412.19437, section 3.3.3.
inline void AddActivation(bool gated, int64_t elements,
                          ModuleBuilder& builder) {
  const int64_t inputs = gated ? 2 : 1;
  const int64_t kept = builder.context().fp8_activation_inputs ? 1 : 2;
  builder.Stream({.op = gated ? "swiglu" : "gelu",
                  .elements = elements,
                  .forward = inputs + 1,
                  .backward = 2 * inputs + 1,
                  .saved_bytes = kept * inputs * elements,
                  .workspace_bytes = 2 * (inputs + 1) * elements});
}

}  // namespace astra

#endif  // WORKLOAD_MODULES_ACTIVATION_H_
