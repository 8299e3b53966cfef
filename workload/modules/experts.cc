#include "workload/modules/experts.h"

#include <algorithm>
#include <cmath>

#include "workload/modules/activation.h"
#include "workload/modules/module_builder.h"
#include "workload/modules/norm.h"

namespace astra {
namespace {

constexpr ParallelDimension kExpert = ParallelDimension::kExpert;
constexpr ParallelDimension kExpertTensor = ParallelDimension::kExpertTensor;

// Returns how many copies of tokens the busiest `ranks` ranks together receive;
// at least one.
int64_t RoutedTokens(const ModelShape& model, const ModuleContext& context,
                     int64_t ranks = 1) {
  const int64_t split = context.routing_ranks();
  const int64_t copies = context.tokens() * model.experts->top_k * ranks;
  const int64_t mean = (copies + split - 1) / split;
  return std::max<int64_t>(
      1, std::llround(static_cast<double>(mean) * context.expert_load));
}

MockModule Router(const ModelShape& model, const ModuleContext& context) {
  const Experts& experts = *model.experts;
  ModuleBuilder builder("moe_router", context);
  AddNorm(model, builder, RecomputeModule::kFeedForwardNorm);
  builder.Begin(RecomputeModule::kMoe);
  builder.Begin(RecomputeModule::kRouter);
  builder.Linear({.op = "router",
                  .tokens = context.split_tokens(),
                  .inputs = model.hidden,
                  .outputs = experts.experts,
                  .is_exact = true});
  builder.ReplicatedParameters(model.hidden * experts.experts);
  if (experts.router_bias) builder.ReplicatedParameters(experts.experts);
  builder.Stream({.op = "softmax_topk",
                  .elements = context.split_tokens() * experts.experts,
                  .forward = 6,
                  .backward = 6,
                  .saved_bytes = 4 * context.split_tokens() * experts.experts});
  builder.End(RecomputeModule::kRouter);
  constexpr int64_t kCountBytes = 8;
  if (context.training && context.expert > 1) {
    builder.ForwardCollective(
        CollectiveKind::kAllGather, kExpert,
        kCountBytes * experts.experts * context.expert * context.expert_tensor);
  }
  return builder.Take();
}

// Returns the bytes of all copies of tokens on their way back from the experts.
// The gradients have as many bytes in both directions.
int64_t ReturnedBytes(const ModelShape& model, const ModuleContext& context) {
  return kElementBytes * RoutedTokens(model, context) * model.hidden;
}

// Returns the bytes of elements on their way to the experts.
int64_t DispatchedBytes(int64_t elements, bool fp8_dispatch) {
  constexpr int64_t kScaleBlock = 128;
  constexpr int64_t kScaleBytes = 4;
  return fp8_dispatch ? elements + elements / kScaleBlock * kScaleBytes
                      : kElementBytes * elements;
}

// Builds the way of tokens to the experts.
MockModule Dispatch(const ModelShape& model, const ModuleContext& context) {
  const int64_t elements = RoutedTokens(model, context) * model.hidden;
  const int64_t bytes = DispatchedBytes(elements, context.fp8_dispatch);
  ModuleBuilder builder("moe_dispatch", context);
  builder.Continue(RecomputeModule::kMoe);
  if (context.expert_host_ns > 0) {
    const Operator routing = {"routing",
                              astra::Stream{.host_ns = context.expert_host_ns}};
    builder.Forward(routing);
    builder.Backward(routing);
  }
  builder.Stream(
      {.op = "permute", .elements = elements, .forward = 2, .backward = 3});
  if (context.shared_expert_overlap) {
    builder.ForwardLaunch(CollectiveKind::kDispatch, kExpert, bytes);
    builder.BackwardWait(kExpert);
  } else {
    builder.ForwardCollective(CollectiveKind::kDispatch, kExpert, bytes);
    builder.BackwardCollective(CollectiveKind::kCombine, kExpert,
                               ReturnedBytes(model, context));
  }
  return builder.Take();
}

// Returns the bytes of all tokens that an ETP group works on.
int64_t GatheredBytes(const ModelShape& model, const ModuleContext& context) {
  return kElementBytes * model.hidden *
         RoutedTokens(model, context, context.gathered_ranks());
}

MockModule Gather(const ModelShape& model, const ModuleContext& context) {
  ModuleBuilder builder("moe_gather", context);
  builder.Continue(RecomputeModule::kMoe);
  if (context.shared_expert_overlap) {
    builder.ForwardWait(kExpert);
    builder.BackwardLaunch(CollectiveKind::kCombine, kExpert,
                           ReturnedBytes(model, context));
  }
  const int64_t bytes = GatheredBytes(model, context);
  if (!context.sums_experts()) {
    builder.ForwardCollective(CollectiveKind::kAllGather, kExpertTensor, bytes);
  }
  builder.BackwardCollective(CollectiveKind::kReduceScatter, kExpertTensor,
                             bytes);
  // Sorts the gathered tokens by expert; each rank sent one run for each
  // expert.
  builder.Stream({.op = "permute",
                  .elements = bytes / kElementBytes,
                  .forward = 2,
                  .backward = 2});
  return builder.Take();
}

int64_t InputsOf(const ModelShape& model) {
  return model.feed_forward.gated ? 2 : 1;
}

// Counts the weights of `held` experts of a width.
void AddExpertParameters(const ModelShape& model, int64_t held, int64_t width,
                         ModuleBuilder& builder) {
  const int64_t inputs = InputsOf(model);
  builder.ExpertParameters(held * (inputs + 1) * model.hidden * width);
  if (model.experts->expert_bias) {
    builder.ExpertParameters(held * (inputs * width + model.hidden));
  }
}

MockModule Products(const ModelShape& model, const ModuleContext& context) {
  const Experts& experts = *model.experts;
  const int64_t held = experts.experts / context.expert;
  const int64_t width = experts.ffn / context.expert_tensor;
  const int64_t tokens = RoutedTokens(model, context, context.gathered_ranks());
  // A few tokens, as in a decode step, reach at most as many experts.
  const int64_t busy = std::min(held, tokens);
  const int64_t each = (tokens + busy - 1) / busy;
  const Routed routed = {experts.experts, experts.top_k, context.expert,
                         context.expert_tensor, tokens};

  ModuleBuilder builder("moe_experts", context);
  builder.Continue(RecomputeModule::kMoe);
  builder.Begin(RecomputeModule::kExpertProducts);
  builder.Linear({.op = "experts_up",
                  .groups = busy,
                  .tokens = each,
                  .inputs = model.hidden,
                  .outputs = InputsOf(model) * width,
                  .saved_tokens = tokens,
                  .casts_inputs = true,
                  .casts_gradients = false,
                  .routed = routed});
  // The activation keeps a probability in FP32 for each token.
  builder.Saved(context.weights_in_experts ? 4 * tokens : 0);
  builder.Begin(RecomputeModule::kMoeActivation);
  AddActivation(model.feed_forward.gated, tokens * width, builder);
  builder.End(RecomputeModule::kMoeActivation);
  builder.Linear({.op = "experts_down",
                  .groups = busy,
                  .tokens = each,
                  .inputs = width,
                  .outputs = model.hidden,
                  .saved_tokens = tokens,
                  .routed = routed});
  builder.End(RecomputeModule::kExpertProducts);
  AddExpertParameters(model, held, width, builder);
  const int64_t bytes = GatheredBytes(model, context);
  if (!context.sums_experts()) {
    builder.ForwardCollective(CollectiveKind::kReduceScatter, kExpertTensor,
                              bytes);
  }
  builder.BackwardCollective(CollectiveKind::kAllGather, kExpertTensor, bytes);
  if (context.shared_expert_overlap) {
    builder.ForwardLaunch(CollectiveKind::kCombine, kExpert,
                          ReturnedBytes(model, context));
    builder.BackwardWait(kExpert);
  }
  return builder.Take();
}

MockModule Combine(const ModelShape& model, const ModuleContext& context) {
  const int64_t elements = RoutedTokens(model, context) * model.hidden;
  const int64_t bytes = ReturnedBytes(model, context);
  ModuleBuilder builder("moe_combine", context);
  builder.Continue(RecomputeModule::kMoe);
  if (context.shared_expert_overlap) {
    builder.ForwardWait(kExpert);
    builder.BackwardLaunch(CollectiveKind::kDispatch, kExpert, bytes);
  } else {
    builder.ForwardCollective(CollectiveKind::kCombine, kExpert, bytes);
    builder.BackwardCollective(CollectiveKind::kDispatch, kExpert, bytes);
  }
  builder.Stream({.op = "unpermute",
                  .elements = elements,
                  .forward = 2,
                  .backward = 3,
                  .saved_bytes = context.weights_in_experts ? 0 : bytes});
  if (!context.training) {
    builder.ForwardCollective(context.sums_experts()
                                  ? CollectiveKind::kAllReduce
                                  : CollectiveKind::kAllGather,
                              ParallelDimension::kTensor,
                              kElementBytes * context.tokens() * model.hidden);
  }
  builder.End(RecomputeModule::kMoe);
  AddResidual(model, builder);
  return builder.Take();
}

}  // namespace

std::vector<MockModule> ExpertModules(const ModelShape& model,
                                      const ModuleContext& context) {
  return {Router(model, context), Dispatch(model, context),
          Gather(model, context), Products(model, context),
          Combine(model, context)};
}

ExpertRouting RoutingWithBytes(const ModelShape& model, bool fp8_dispatch) {
  ExpertRouting routing = RoutingOf(*model.experts);
  routing.dispatch_bytes = DispatchedBytes(model.hidden, fp8_dispatch);
  routing.combine_bytes = kElementBytes * model.hidden;
  return routing;
}

}  // namespace astra
