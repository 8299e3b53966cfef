// Builds the end of a model: the final norm, the product with the vocabulary,
// and the loss or the choice of the next token.

#ifndef WORKLOAD_MODULES_LOGITS_H_
#define WORKLOAD_MODULES_LOGITS_H_

#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Returns "final_column": the norm and this rank's part of the logits over
// `vocabulary`, the padded vocabulary. In inference, only the last position of
// a sequence gets logits.
MockModule Logits(const ModelShape& model, int64_t vocabulary,
                  const ModuleContext& context);

// Returns "cross_entropy": the loss over logits that TP splits. The maximum,
// the logit of the label and the sum of exponentials of each token are
// all-reduced.
//
// Separate kernels convert the logits to FP32, keep those, and move 50 B for
// each logit. While they run they take loss_workspace bytes a logit beside what
// is kept: 2 for the logits in BF16; 8 where the gradients of the probabilities
// and of the logits in FP32 are tensors of their own, as with PyTorch's
// cross_entropy. With fused_loss there is one kernel in each direction: it
// reads the logits for the maximum and the sum, reads them again and overwrites
// them with their BF16 gradient, which the backward pass scales. That moves 10
// B and keeps no FP32. Each of loss_metrics, which training loops compute
// beside the loss to report it, moves 8 B for each logit in the forward pass.
//
// Sources: Shoeybi et al., "Megatron-LM", arXiv 1909.08053, section 3; Hsu et
// al., "Liger Kernel", arXiv 2410.10989, section 3.2; PyTorch,
// nll_loss_backward and log_softmax_backward of aten/src/ATen/native.
MockModule CrossEntropy(int64_t vocabulary, const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_LOGITS_H_
