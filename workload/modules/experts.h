// A mixture of experts: where tokens go, their way there and back, and the
// experts themselves.

#ifndef WORKLOAD_MODULES_EXPERTS_H_
#define WORKLOAD_MODULES_EXPERTS_H_

#include <vector>

#include "workload/models/model_spec.h"
#include "workload/modules/module.h"

namespace astra {

// In order: "moe_router" (the norm, the scores, and an all-gather of how many
// tokens go where), "moe_dispatch" (an all-to-all over EP), "moe_gather" (an
// all-gather over ETP), "moe_experts" (the products, and a reduce-scatter over
// ETP) and "moe_combine" (the all-to-all back, and the residual).
//
// Each of the tokens that a rank has after sequence parallelism goes to top_k
// experts; a rank holds experts / EP of them, of which it computes 1 / ETP. The
// busiest rank has expert_load times the mean, and all wait for it. With
// dispatch in FP8 a token is a byte for each element and a scale of 4 bytes for
// each 128.
//
// In inference without EP, where TP splits the experts (sums_experts), the four
// collectives are one all-reduce over TP in "moe_combine".
//
// In training, "routing" of "moe_dispatch" stands for what a layer of experts
// takes beside its work: many small kernels, and the host, which waits for the
// numbers of tokens.
//
// With shared_expert_overlap, the all-to-alls are launched at the end of
// "moe_dispatch" and of "moe_experts", and waited for at the begin of
// "moe_gather" and of "moe_combine"; backward, the other way round. What runs
// between two of them is hidden behind, or hides, one: the first and the second
// half of the shared experts.
//
// Sources: Megatron-LM, the all-to-all token dispatcher, and shared_experts.py;
// vLLM, fused_moe/layer.py and docs, "Expert Parallel Deployment" (experts are
// sharded as the rest is, unless expert parallelism is enabled); DeepSeek-V3,
// arXiv 2412.19437, section 3.3.
std::vector<MockModule> ExpertModules(const ModelSpec& model,
                                      const ModuleContext& context);

}  // namespace astra

#endif  // WORKLOAD_MODULES_EXPERTS_H_
