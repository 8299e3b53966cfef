#include "astra-core/planner/simumax/module_costs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <variant>

#include "astra-core/base/release.h"
#include "fmt/core.h"
#include "workload/generator/blueprint.h"

namespace astra {
namespace {

// The kernels of an operator that is bound by memory, as shares of the bytes
// that this program counts for it; 0: no kernel.
struct StreamRule {
  std::string_view op;
  std::string_view forward_name;  // Key of accelerator.bandwidth.
  std::string_view backward_name;
  std::array<double, 2> forward;
  std::array<double, 2> backward;
};

// Names of products whose recomputation recompute_variance skips, with the
// collective behind them, because nothing in their segment needs the results.
constexpr std::string_view kTails[] = {"q_down", "kv_down", "ffn_down",
                                       "shared_down", "experts_down"};

// Returns the name of the element type of accumulated gradients.
std::string_view GradientType(const SimumaxStrategy& strategy) {
  constexpr int64_t kFloatBytes = 4;
  return strategy.gradient_bytes < kFloatBytes ? "bf16" : "fp32";
}

bool IsTail(const ModuleStep& step) {
  if (step.kind != StepKind::kCompute) return false;
  return std::holds_alternative<Attention>(step.op.shape) ||
         std::find(std::begin(kTails), std::end(kTails), step.op.name) !=
             std::end(kTails);
}

}  // namespace

SimumaxChunkCost& SimumaxChunkCost::operator+=(const SimumaxChunkCost& other) {
  forward += other.forward;
  recompute += other.recompute;
  backward += other.backward;
  return *this;
}

SimumaxChunkCost SimumaxModuleCosts::OfChunk(const Blueprint& blueprint,
                                             const ProgramStage& stage,
                                             int64_t chunk) {
  const auto add = [](const SimumaxCost& cost, int64_t times,
                      SimumaxCost& sum) {
    const auto factor = static_cast<double>(times);
    sum += {.compute_ms = factor * cost.compute_ms,
            .net_ms = factor * cost.net_ms,
            .flops = factor * cost.flops,
            .bytes = factor * cost.bytes};
  };
  SimumaxChunkCost sum;
  for (const ModuleRun& run : stage.runs) {
    if (run.chunk != chunk) continue;
    for (const ModuleId id : run.modules) {
      const MockModule& module = blueprint.modules[id.index()];
      using enum ModulePass;
      add(OfPass(module, kForward), run.times, sum.forward);
      add(OfPass(module, kRecompute), run.times, sum.recompute);
      add(OfPass(module, kInputGradient), run.times, sum.backward);
      add(OfPass(module, kWeightGradient), run.times, sum.backward);
    }
  }
  return sum;
}

SimumaxCost SimumaxModuleCosts::OfPass(const MockModule& module,
                                       ModulePass pass) {
  Place place = {.module = module, .pass = pass};
  const bool skips_tails =
      pass == ModulePass::kRecompute && strategy_.recompute.skips_tails;
  SimumaxCost sum;
  for (const ModuleStep& step : module.pass(pass)) {
    const bool is_tail = skips_tails && IsTail(step);
    place.is_behind_tail = place.is_behind_tail || is_tail;
    if (!place.is_behind_tail) sum += OfStep(step, place);
    if (std::holds_alternative<Attention>(step.op.shape)) {
      place.is_behind_attention = true;
      place.is_behind_tail = false;
    }
  }
  return sum;
}

SimumaxCost SimumaxModuleCosts::OfStep(const ModuleStep& step,
                                       const Place& place) {
  if (step.kind == StepKind::kWait) return {};
  if (step.kind != StepKind::kCompute) {
    return OfCollective(step.communication, step.is_hidden, place);
  }
  if (const auto* gemm = std::get_if<Gemm>(&step.op.shape)) {
    return OfProduct(step.op, *gemm, place);
  }
  if (const auto* attention = std::get_if<Attention>(&step.op.shape)) {
    return OfAttention(*attention);
  }
  const auto* stream = std::get_if<Stream>(&step.op.shape);
  if (stream == nullptr) return {};
  return OfStream(step.op.name, static_cast<double>(stream->bytes), place);
}

SimumaxCost SimumaxModuleCosts::OfProduct(const Operator& op, const Gemm& gemm,
                                          const Place& place) {
  SimumaxCost cost =
      gemm.groups > 1 ? OfGroup(op, gemm, place) : OfSingle(op, gemm, place);
  if (IsCast(op.precision) && place.is_forward()) {
    // A kernel casts the inputs, reading 2 bytes and writing 1.
    constexpr double kCastBytes = 3;
    const double bytes =
        kCastBytes * static_cast<double>(gemm.groups * gemm.m * gemm.k);
    cost += costs_.Of(SimumaxKernel{.op = "default", .bytes = bytes});
  }
  return cost;
}

bool SimumaxModuleCosts::IsRowParallel(std::string_view op) const {
  return op == "ffn_down" || op == "shared_down" ||
         (op == "output_linear" && !model_.is_latent);
}

SimumaxCost SimumaxModuleCosts::OfSingle(const Operator& op, const Gemm& gemm,
                                         const Place& place) {
  const bool is_weight = place.pass == ModulePass::kWeightGradient;
  // The router sees the tokens of one rank, and its shape those of all.
  const int64_t gathered =
      op.name == "router" && strategy_.sequence_parallel ? strategy_.tensor : 1;
  const int64_t batch = strategy_.micro_batch;
  std::string shape;
  if (is_weight) {
    shape = fmt::format(
        "b=1, m={}, k={}, n={}, layout=NT, accumulate=True, out_dtype={}",
        gemm.n, gemm.k * gathered, gemm.m, GradientType(strategy_));
  } else {
    shape = fmt::format(
        "b={}, m={}, k={}, n={}, layout={}, accumulate=False, out_dtype=bf16",
        batch, gemm.m * gathered / batch, gemm.k, gemm.n,
        place.is_forward() ? "TN" : "NN");
  }
  const double narrow = IsCast(op.precision) ? 1.0 : kValueBytes;
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  // Of the gradient, m x n is the weight and its sum in FP32.
  constexpr double kSumBytes = 4;
  const double inputs = is_weight ? m * k : place.is_forward() ? m * k : m * n;
  const double outputs = is_weight ? n * k : place.is_forward() ? m * n : m * k;
  const double weights = is_weight ? m * n : n * k;
  // SimuMax leaves out the weight in the gradient of row-parallel products.
  const bool has_weight = !is_weight || !IsRowParallel(op.name);
  const double bytes = narrow * (inputs + (has_weight ? weights : 0)) +
                       kValueBytes * outputs +
                       (is_weight ? kSumBytes * weights : 0);
  return costs_.Of(
      SimumaxKernel{.op = IsCast(op.precision) ? "fp8_matmul" : "matmul",
                    .flops = 2 * m * n * k,
                    .bytes = bytes,
                    .shape = shape});
}

SimumaxCost SimumaxModuleCosts::OfGroup(const Operator& op, const Gemm& gemm,
                                        const Place& place) {
  const bool is_weight = place.pass == ModulePass::kWeightGradient;
  // Sizes of the forward product, in all three passes.
  const int64_t tokens = is_weight ? gemm.k : gemm.m;
  const int64_t outputs = is_weight || place.is_forward() ? gemm.n : gemm.k;
  const int64_t inputs =
      is_weight ? gemm.m : (place.is_forward() ? gemm.k : gemm.n);
  constexpr std::string_view kForward =
      "stage=fwd, grad=False, accumulate=False, use_split_accumulator=False, "
      "single_output=True";
  constexpr std::string_view kInput =
      "stage=bwd_grad_act, grad=True, accumulate=False, "
      "use_split_accumulator=True, single_output=False";
  constexpr std::string_view kWeight =
      "stage=bwd_grad_w, grad=True, accumulate=True, "
      "use_split_accumulator=True, single_output=False";
  const bool is_cast = IsCast(op.precision);
  const std::string shape = fmt::format(
      "ng={}, M={}, N={}, K={}, dtype={}, out_dtype=bf16, main_grad_dtype={}, "
      "{}",
      gemm.groups, tokens, outputs, inputs, is_cast ? "fp8" : "bf16",
      GradientType(strategy_),
      is_weight ? kWeight : (place.is_forward() ? kForward : kInput));
  const double narrow = is_cast ? 1.0 : kValueBytes;
  const auto groups = static_cast<double>(gemm.groups);
  const auto m = static_cast<double>(tokens);
  const auto n = static_cast<double>(outputs);
  const auto k = static_cast<double>(inputs);
  constexpr double kSumBytes = 4;
  const double bytes =
      groups * (narrow * (m * k + n * k) + kValueBytes * m * n) +
      (is_weight ? kSumBytes * n * k : 0);
  return costs_.Of(
      SimumaxKernel{.op = is_cast ? "fp8_group_matmul" : "group_matmul",
                    .flops = 2 * groups * m * n * k,
                    .bytes = bytes,
                    .shape = shape});
}

SimumaxCost SimumaxModuleCosts::OfAttention(const Attention& attention) {
  // A rank of context parallelism has shares of the heads.
  const int64_t kv_heads =
      model_.kv_heads /
      ((model_.is_latent ? 1 : strategy_.tensor) * strategy_.context);
  constexpr std::string_view kSplitAccelerator = "s5000";
  const bool is_contiguous =
      costs_.system().name.find(kSplitAccelerator) == std::string::npos;
  const std::string shape = fmt::format(
      "batch={}, seq_len={}, head_num={}, kv_head_num={}, qk_head_dim={}, "
      "v_head_dim={}, qkv_contiguous={}",
      attention.batch, attention.queries, attention.heads, kv_heads,
      attention.qk_dim, attention.v_dim, is_contiguous ? "True" : "False");
  const auto pairs = static_cast<double>(attention.batch * attention.heads) *
                     static_cast<double>(attention.queries) *
                     static_cast<double>(attention.queries);
  const auto qk = static_cast<double>(attention.qk_dim);
  const auto v = static_cast<double>(attention.v_dim);
  constexpr double kForwardProducts = 2;
  constexpr double kBackwardProducts = 5;
  const double flops =
      pairs * (qk + v) * (1 - strategy_.sparse_share) *
      (attention.backward ? kBackwardProducts : kForwardProducts);
  // Queries, keys and values, and backward their gradients; the output; a sum
  // for each query and head.
  const auto tokens = static_cast<double>(attention.batch * attention.queries *
                                          attention.heads);
  const double copies = attention.backward ? 2 : 1;
  const double bytes = kValueBytes * tokens * (copies * (2 * qk + v) + v + 1);
  return costs_.Of(
      SimumaxKernel{.op = attention.backward ? "sdp_bwd" : "sdp_fwd",
                    .flops = flops,
                    .bytes = bytes,
                    .shape = shape});
}

double SimumaxModuleCosts::GatheredShare() const {
  return strategy_.sequence_parallel
             ? static_cast<double>(strategy_.expert_tensor)
             : 1;
}

SimumaxCost SimumaxModuleCosts::OfStream(std::string_view op, double bytes,
                                         const Place& place) {
  if (op == "embedding") return OfEmbedding(place);
  const std::string_view module = PlainName(place.module.name);
  // Hidden states of a rank, as a share of its copies on their way to experts.
  const double hidden = 1 / std::max(1.0, static_cast<double>(model_.top_k));
  const bool is_sorting = op == "permute" && module == "moe_gather";
  // Behind the experts SimuMax has the tokens of the whole ETP group, and
  // before them those of a rank.
  const double gathered = GatheredShare();
  const StreamRule rules[] = {
      {"rms_norm", "default", "default", {1, 0}, {2.0 / 3, 1.0 / 3}},
      {"swiglu", "default", "default", {1, 0}, {3.0 / 5, 0}},
      {"gelu", "default", "default", {1, 0}, {2.0 / 3, 0}},
      {"permute",
       "permute_fwd",
       "permute_bwd",
       {is_sorting ? 1 / gathered : (1 + hidden) / 2, 0},
       {is_sorting ? 1 / gathered : (1 + hidden) / 3, 0}},
      {"unpermute",
       "permute_fwd",
       "permute_bwd",
       {gathered, (gathered + hidden) / 2},
       {2 * gathered / 3, (gathered + hidden) / 3}},
      {"cross_entropy",
       strategy_.fused_loss ? "ce_fusion" : "ce",
       strategy_.fused_loss ? "ce_fusion" : "ce",
       {strategy_.fused_loss ? 2.0 / 3 : 1, 0},
       {strategy_.fused_loss ? 1 : 7.0 / 6, 0}},
  };
  SimumaxCost cost;
  for (const StreamRule& rule : rules) {
    if (rule.op != op) continue;
    for (const double share :
         place.is_forward() ? rule.forward : rule.backward) {
      cost += costs_.Of(SimumaxKernel{
          .op = place.is_forward() ? rule.forward_name : rule.backward_name,
          .bytes = share * bytes});
    }
  }
  return cost;
}

SimumaxCost SimumaxModuleCosts::OfEmbedding(const Place& place) {
  const auto table = static_cast<double>(place.module.parameters);
  const int64_t tokens_of_sequence = strategy_.sequence / strategy_.context;
  const auto tokens =
      static_cast<double>(strategy_.micro_batch * tokens_of_sequence);
  // Forward: numbers of tokens, the whole table and the output. Backward: the
  // sum of the gradient is read and written.
  constexpr double kNumberBytes = 4;
  constexpr double kSumBytes = 4;
  const double bytes =
      place.is_forward()
          ? kNumberBytes * tokens +
                kValueBytes *
                    (table + tokens * static_cast<double>(model_.hidden))
          : 2 * kSumBytes * table;
  return costs_.Of(SimumaxKernel{.op = "default", .bytes = bytes});
}

SimumaxCost SimumaxModuleCosts::OfCollective(const Communication& what,
                                             bool is_hidden,
                                             const Place& place) {
  switch (what.dimension) {
    case ParallelDimension::kTensor:
      return OfTensor(what, is_hidden, place);
    case ParallelDimension::kContext:
      return OfContext(static_cast<double>(what.bytes.count()), place);
    case ParallelDimension::kExpert:
      return OfExpert(what, place);
    case ParallelDimension::kExpertTensor:
      return OfExpertTensor(what, place);
    case ParallelDimension::kData:
    case ParallelDimension::kDataExpert:
    case ParallelDimension::kPipeline:
      break;
  }
  return {};
}

SimumaxCost SimumaxModuleCosts::OfTensor(const Communication& what,
                                         bool is_hidden, const Place& place) {
  SimumaxTransfer transfer = {.bytes = static_cast<double>(what.bytes.count())};
  const bool is_forward = place.is_forward();
  if (PlainName(place.module.name) == "embedding_layer") {
    // SimuMax sums the embeddings of the tokens that sequence parallelism
    // leaves a rank.
    transfer.op = is_forward ? "all_reduce" : "all_gather";
    transfer.stage = "embedding";
    if (strategy_.sequence_parallel) {
      transfer.bytes /= static_cast<double>(strategy_.tensor);
    }
    return costs_.Of(transfer);
  }
  if (PlainName(place.module.name) == "cross_entropy") {
    return OfLoss(transfer.bytes);
  }
  switch (what.kind) {
    case CollectiveKind::kAllGather:
      transfer.op = "all_gather";
      transfer.stage = is_forward  ? "linearcol_fwd_sp"
                       : is_hidden ? "linearcol_bwd_w_sp"
                                   : "linearrow_bwd_sp";
      break;
    case CollectiveKind::kReduceScatter:
      transfer.op = "reduce_scatter";
      transfer.stage = is_forward ? "linearrow_fwd_sp" : "linearcol_bwd_act_sp";
      break;
    default:
      transfer.op = "all_reduce";
      transfer.stage = is_forward ? "linearrow_fwd_tp" : "linearcol_bwd_act_tp";
      break;
  }
  return costs_.Of(transfer);
}

SimumaxCost SimumaxModuleCosts::OfLoss(double bytes) {
  SimumaxTransfer transfer = {
      .op = "all_reduce", .bytes = bytes, .stage = "parallelce_fwd_tp"};
  SimumaxCost cost = costs_.Of(transfer);
  if (!strategy_.fused_loss) return cost;
  // One of three sums goes alone, and two together.
  constexpr double kSums = 3;
  transfer.bytes *= 2;
  cost += costs_.Of(transfer);
  cost.net_ms /= kSums;
  return cost;
}

SimumaxCost SimumaxModuleCosts::OfContext(double bytes, const Place& place) {
  SimumaxTransfer transfer = {.op = "all2all", .group = SimumaxGroup::kContext};
  SimumaxCost cost;
  const auto send = [&](std::string_view stage, double share) {
    transfer.stage = stage;
    transfer.bytes = share * bytes;
    cost += costs_.Of(transfer);
  };
  if (place.is_forward() && place.is_behind_attention) {
    send("attention_fwd_cp2", 1);
    return cost;
  }
  if (!place.is_forward() && !place.is_behind_attention) {
    // A release of Transformer Engine that keeps only the output behind the
    // exchange exchanges it once more.
    const bool keeps_both =
        ReleaseOf(strategy_.transformer_engine) >= Release{2, 8};
    if (!keeps_both) send("attention_bwd_cp2_out", 1);
    send("attention_bwd_cp2_dout", 1);
    return cost;
  }
  const auto heads = static_cast<double>(model_.heads);
  const auto kv_heads = static_cast<double>(model_.kv_heads);
  const auto qk = static_cast<double>(
      model_.is_latent ? model_.nope_head_dim + model_.rope_head_dim
                       : model_.head_size);
  const auto v = static_cast<double>(model_.is_latent ? model_.v_head_dim
                                                      : model_.head_size);
  const double all = heads * qk + kv_heads * (qk + v);
  const bool is_forward = place.is_forward();
  send(is_forward ? "attention_fwd_cp1_q" : "attention_bwd_cp1_dq",
       heads * qk / all);
  send(is_forward ? "attention_fwd_cp1_k" : "attention_bwd_cp1_dk",
       kv_heads * qk / all);
  send(is_forward ? "attention_fwd_cp1_v" : "attention_bwd_cp1_dv",
       kv_heads * v / all);
  return cost;
}

SimumaxCost SimumaxModuleCosts::OfExpert(const Communication& what,
                                         const Place& place) {
  const bool carries_tokens = what.kind == CollectiveKind::kDispatch ||
                              what.kind == CollectiveKind::kCombine;
  if (!carries_tokens) return {};  // Counts of tokens.
  const bool is_forward = place.is_forward();
  const bool is_dispatch = PlainName(place.module.name) == "moe_dispatch";
  SimumaxTransfer transfer = {
      .op = "all2all",
      .group = SimumaxGroup::kExpert,
      .bytes = static_cast<double>(what.bytes.count()),
      .stage = is_dispatch
                   ? (is_forward ? "dispatch_fwd_ep" : "dispatch_bwd_ep")
                   : (is_forward ? "combine_fwd_ep" : "combine_bwd_ep")};
  if (!is_dispatch) transfer.bytes *= GatheredShare();
  SimumaxCost cost = costs_.Of(transfer);
  if (!is_dispatch || !strategy_.sends_probabilities) return cost;
  const int64_t sharers = strategy_.sequence_parallel ? strategy_.tensor : 1;
  const int64_t tokens = strategy_.sequence / strategy_.context / sharers;
  transfer.bytes = kValueBytes * static_cast<double>(strategy_.micro_batch *
                                                     tokens * model_.experts);
  transfer.stage = is_forward ? "dispatch_prob_fwd_ep" : "dispatch_prob_bwd_ep";
  return cost += costs_.Of(transfer);
}

SimumaxCost SimumaxModuleCosts::OfExpertTensor(const Communication& what,
                                               const Place& place) {
  const bool is_forward = place.is_forward();
  const bool is_gather = what.kind == CollectiveKind::kAllGather;
  const bool is_dispatch = is_gather == is_forward;
  // SimuMax counts the ranks of the group twice on the way back.
  const double copies = is_dispatch ? 1 : GatheredShare();
  return costs_.Of(SimumaxTransfer{
      .op = is_gather ? "all_gather" : "reduce_scatter",
      .group = SimumaxGroup::kExpertTensor,
      .bytes = copies * static_cast<double>(what.bytes.count()),
      .stage =
          is_dispatch
              ? (is_forward ? "permutation_fwd_etp" : "permutation_bwd_etp")
              : (is_forward ? "combine_fwd_etp" : "combine_bwd_etp")});
}

}  // namespace astra
