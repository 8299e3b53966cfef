// Builds a mixture of experts: the routing of tokens, their way to the experts
// and back, and the experts themselves.

#ifndef WORKLOAD_MODULES_EXPERTS_H_
#define WORKLOAD_MODULES_EXPERTS_H_

#include <vector>

#include "astra-core/base/expert_routing.h"
#include "workload/modules/model_shape.h"
#include "workload/modules/module.h"

namespace astra {

// Returns these modules, in order:
//
//   moe_router    the norm, the scores, and an all-gather of how many tokens go
//                 to each expert
//   moe_dispatch  a dispatch over EP: tokens go to their experts
//   moe_gather    an all-gather over ETP
//   moe_experts   the products, and a reduce-scatter over ETP
//   moe_combine   a combine over EP: results come back; and the residual
//
// In the backward pass, the gradients of a combine's results go to the experts
// by a dispatch. The gradients of dispatched tokens come back by a combine,
// which sums those of a token.
//
// Each token that a rank has after sequence parallelism goes to top_k experts.
// A rank holds experts / EP of the experts and computes 1 / ETP of each. The
// busiest rank has expert_load times the mean, and all ranks wait for it. With
// dispatch in FP8, a token takes a byte for each element and a scale of 4 bytes
// for each 128 elements.
//
// In inference without EP, where TP splits the experts (sums_experts), one
// all-reduce over TP in "moe_combine" replaces the four collectives.
//
// The operator "routing" of "moe_dispatch" stands for what a layer of experts
// takes beside its work in training (expert_host_ns): many small kernels, and
// the host, which waits for the numbers of tokens.
//
// With shared_expert_overlap, dispatch and combine start at the end of
// "moe_dispatch" and of "moe_experts", and are waited for at the begin of
// "moe_gather" and of "moe_combine"; in the backward pass it is the other way
// round. The first and the second half of the shared experts run in these two
// gaps.
//
// Sources: Megatron-LM, the all-to-all token dispatcher, and shared_experts.py;
// vLLM, fused_moe/layer.py and docs, "Expert Parallel Deployment" (experts are
// sharded as the rest is, unless expert parallelism is enabled); DeepSeek-V3,
// arXiv 2412.19437, section 3.3.
std::vector<MockModule> ExpertModules(const ModelShape& model,
                                      const ModuleContext& context);

// Returns how the model routes tokens, with the bytes of a copy of one on its
// way. Requires that the model has experts.
ExpertRouting RoutingWithBytes(const ModelShape& model, bool fp8_dispatch);

}  // namespace astra

#endif  // WORKLOAD_MODULES_EXPERTS_H_
