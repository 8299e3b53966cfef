#include "workload/attention/core_attention.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "workload/modules/size_rules.h"

namespace astra {
namespace {

constexpr ParallelDimension kContext = ParallelDimension::kContext;
constexpr int64_t kFloatBytes = 4;

// Returns the attention operator of one rank.
Operator AttentionOf(const CoreAttention& part, const ModuleContext& context,
                     bool backward) {
  const bool by_heads = context.context_method == ContextMethod::kAllToAll;
  const int64_t queries =
      by_heads ? context.positions : context.positions / context.context;
  // A rank computes as much of the causal triangle as if its queries were the
  // last of (positions + queries) / 2.
  const int64_t keys = context.past + (context.positions + queries) / 2;
  return {
      "attention",
      Attention{.batch = context.sequences,
                .queries = queries,
                .keys = keys,
                .heads = by_heads ? part.heads / context.context : part.heads,
                .kv_heads = by_heads ? std::max<int64_t>(
                                           1, part.kv_heads / context.context)
                                     : part.kv_heads,
                .qk_dim = part.qk_dim,
                .v_dim = part.v_dim,
                .causal = true,
                .window = part.window,
                .has_bias = part.has_bias,
                .values_in_keys = part.values_in_keys,
                .backward = backward},
      Precision::kBf16};
}

// Returns the attention of one rank as the steps of a ring. The first step uses
// the rank's own keys under the causal mask. Each further step uses the keys of
// another rank: early queries see its early half and late queries both halves.
// All steps have the same number of pairs. With a window there is only one
// step.
std::vector<Operator> RingSteps(const CoreAttention& part,
                                const ModuleContext& context, bool backward) {
  Operator all = AttentionOf(part, context, backward);
  if (context.context == 1 || part.window > 0) return {all};
  Operator own = all;
  auto& keys = std::get<Attention>(own.shape);
  keys.keys = keys.queries;
  Operator other = own;
  auto& half = std::get<Attention>(other.shape);
  half.keys /= 2;
  half.causal = false;
  std::vector<Operator> steps(static_cast<size_t>(context.context), other);
  steps.front() = own;
  return steps;
}

// Adds `steps` beside the exchange of keys and values. The last step follows
// the exchange, because it needs everything that was exchanged.
void AddRing(std::vector<Operator> forward, std::vector<Operator> backward,
             int64_t bytes, ModuleBuilder& builder) {
  const bool has_steps = forward.size() > 1;
  const Operator last = forward.back();
  const Operator last_back = backward.back();
  if (has_steps) {
    forward.pop_back();
    backward.pop_back();
  }
  builder.ForwardBehind(CollectiveKind::kAllGather, kContext, bytes, forward);
  if (has_steps) {
    builder.Forward(last);
    builder.Backward(last_back);
  }
  builder.BackwardBehind(CollectiveKind::kAllGather, kContext, 2 * bytes,
                         backward);
}

// Adds both products and the softmax between them, with the scores in memory.
void AddUnfused(const CoreAttention& part, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  const int64_t queries = context.positions / context.context;
  const int64_t keys = context.past + context.positions;
  const int64_t heads = context.sequences * part.heads;
  const auto product = [&](int64_t m, int64_t n, int64_t k) {
    return Operator{"attention_product", Gemm{heads, m, n, k},
                    Precision::kBf16};
  };
  const int64_t scores = heads * queries * keys;
  builder.Forward(product(queries, keys, part.qk_dim));
  builder.Backward(product(keys, part.qk_dim, queries));
  builder.Backward(product(queries, part.qk_dim, keys));
  // Keeps the probabilities, and with dropout also its mask and its output.
  const int64_t kept = part.has_dropout ? 2 * kElementBytes + 1 : kElementBytes;
  builder.Saved(kept * scores);
  builder.Stream(
      {.op = "softmax", .elements = scores, .forward = 4, .backward = 5});
  builder.Forward(product(queries, part.v_dim, keys));
  builder.Backward(product(keys, part.v_dim, queries));
  builder.Backward(product(queries, keys, part.v_dim));
}

// Returns whether attention exchanges queries for heads.
bool Exchanges(const ModuleContext& context) {
  return context.context > 1 &&
         context.context_method == ContextMethod::kAllToAll;
}

// Returns whether attention keeps its output for its backward pass. In BF16 the
// product after it keeps the same tensor.
bool KeepsOutput(const CoreAttention& part, const ModuleContext& context) {
  return IsCast(context.precision) && context.shared_output_bits == 0 &&
         !part.output_is_kept &&
         !(Exchanges(context) && context.keeps_both_outputs);
}

// Returns the workspace of the backward pass: gradients of the output, of the
// queries (also summed in FP32), and of keys and values. Gathered keys and
// values add those of all ranks. An all-to-all has its tensors four times: as
// they are, as they are sent, as they arrive, and in order. While it takes the
// gradients of queries, keys and values, the gradient of the output is still
// there before and after its own exchange.
//
// Source: Transformer Engine, context_parallel.py, flash_attn_a2a_communicate
// and AttnFuncWithCPAndQKVOA2A.
int64_t FlashWorkspace(const CoreAttention& part,
                       const ModuleContext& context) {
  const int64_t of_queries =
      part.heads *
      (kElementBytes * (part.v_dim + part.qk_dim) + kFloatBytes * part.qk_dim);
  const int64_t of_keys =
      kElementBytes * part.kv_heads * (part.qk_dim + part.v_dim);
  if (Exchanges(context)) {
    const int64_t exchanged =
        kElementBytes * part.heads * part.qk_dim + of_keys;
    return context.tokens() *
           (2 * kElementBytes * part.heads * part.v_dim + 4 * exchanged);
  }
  const bool gathers = context.context > 1 &&
                       context.context_method == ContextMethod::kAllGather;
  return context.tokens() *
         (of_queries + of_keys * (gathers ? 2 * context.context : 1));
}

void AddFlash(const CoreAttention& part, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  const Operator forward = AttentionOf(part, context, /*backward=*/false);
  const Operator backward = AttentionOf(part, context, /*backward=*/true);
  const int64_t tokens = context.tokens();
  const int64_t keys_values =
      kElementBytes * part.kv_heads * (part.qk_dim + part.v_dim);
  // Bytes of the keys and values of the whole sequence, gathered from all
  // ranks.
  const int64_t gathered = keys_values * tokens * context.context;
  switch (context.context_method) {
    case ContextMethod::kRing:
      AddRing(RingSteps(part, context, /*backward=*/false),
              RingSteps(part, context, /*backward=*/true), gathered, builder);
      break;
    case ContextMethod::kAllGather:
      // The backward pass gathers keys and values again and then sums their
      // gradients.
      builder.ForwardCollective(CollectiveKind::kAllGather, kContext, gathered);
      builder.BackwardCollective(CollectiveKind::kReduceScatter, kContext,
                                 gathered);
      builder.Forward(forward);
      builder.Backward(backward);
      builder.BackwardCollective(CollectiveKind::kAllGather, kContext,
                                 gathered);
      break;
    case ContextMethod::kAllToAll: {
      const int64_t queries = kElementBytes * part.heads * part.qk_dim;
      const int64_t inputs = tokens * (queries + keys_values);
      const int64_t outputs = tokens * kElementBytes * part.heads * part.v_dim;
      builder.ForwardCollective(CollectiveKind::kAllToAll, kContext, inputs);
      builder.BackwardCollective(CollectiveKind::kAllToAll, kContext, inputs);
      builder.Forward(forward);
      builder.Backward(backward);
      builder.ForwardCollective(CollectiveKind::kAllToAll, kContext, outputs);
      builder.BackwardCollective(CollectiveKind::kAllToAll, kContext, outputs);
      // The output before the exchange is of this module; the next product
      // keeps the output after it.
      if (Exchanges(context) && context.keeps_both_outputs) {
        builder.Saved(outputs);
      }
      break;
    }
  }
  builder.Saved(tokens * part.heads * kFloatBytes);
  builder.Workspace(FlashWorkspace(part, context));
}

}  // namespace

void AddCoreAttention(const CoreAttention& attention, ModuleBuilder& builder) {
  const ModuleContext& context = builder.context();
  builder.Saved(context.tokens() * kElementBytes *
                (attention.heads * attention.qk_dim +
                 attention.kv_heads * (attention.qk_dim + attention.v_dim)));
  builder.Begin(RecomputeModule::kCoreAttention);
  if (!context.flash_attention && context.training) {
    AddUnfused(attention, builder);
    builder.End(RecomputeModule::kCoreAttention);
    return;
  }
  AddFlash(attention, builder);
  builder.End(RecomputeModule::kCoreAttention);
  if (KeepsOutput(attention, context)) {
    builder.Saved(kElementBytes * context.tokens() * attention.heads *
                  attention.v_dim);
  }
}

absl::Status CheckContextHeads(int64_t heads, const ModuleContext& context) {
  if (context.context_method != ContextMethod::kAllToAll) {
    return absl::OkStatus();
  }
  return MustDivide("CP", context.context, heads / context.tensor,
                    "attention heads of a TP rank, which all-to-all context "
                    "parallelism splits");
}

}  // namespace astra
