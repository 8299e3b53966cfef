// The end of a model: the final norm, the product with the vocabulary, and the
// loss, or the choice of the next token.

#ifndef WORKLOAD_MODULES_LOGITS_H_
#define WORKLOAD_MODULES_LOGITS_H_

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// "final_column": the norm and the logits of this rank's part of `vocabulary`,
// the padded one. In inference only those of the last position of a sequence.
MockModule Logits(const ModelSpec& model, int64_t vocabulary,
                  const ModuleContext& context);

// "cross_entropy": the loss over logits that TP splits: the maximum, the logit
// of the label and the sum of exponentials of each token are all-reduced.
//
// By single kernels, which convert the logits to FP32 and keep those, 50 B are
// moved for each logit. With fused_loss it is one kernel each way: the logits
// are read for the maximum and the sum, and read and overwritten by their
// gradient in BF16, which the backward pass scales: 10 B, and nothing in FP32.
//
// Sources: Shoeybi et al., "Megatron-LM", arXiv 1909.08053, section 3; Hsu et
// al., "Liger Kernel", arXiv 2410.10989, section 3.2.
MockModule CrossEntropy(int64_t vocabulary, const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_LOGITS_H_
