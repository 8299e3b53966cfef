// Mocked modules: what a part of a model computes, keeps and communicates on
// one rank, without the values of its tensors.
//
// A module has up to four passes; see workload/program.h. Each pass is a
// sequence of operators and collectives in the order in which Megatron-LM runs
// them.

#ifndef WORKLOAD_MODULES_MODULE_H_
#define WORKLOAD_MODULES_MODULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/parallel_dimension.h"
#include "workload/modules/recompute_module.h"
#include "workload/operators/operator.h"
#include "workload/program.h"

namespace astra {

inline constexpr int64_t kElementBytes = 2;  // Hidden states are in BF16.

// How the ranks of a context-parallel group share a sequence.
enum class ContextMethod : uint8_t {
  kRing,       // Keys and values go round, behind the attention.
  kAllGather,  // Keys and values are gathered before the attention.
  kAllToAll,   // Redistributes from positions to heads, and back.
};

constexpr std::string_view kContextMethodNames[] = {"ring", "all-gather",
                                                    "all-to-all"};

// Everything besides the model that decides the sizes of the modules of a rank.
struct ModuleContext {
  // Sizes of the parallel groups; see workload/parallel_plan.h.
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t expert = 1;
  int64_t expert_tensor = 1;

  // Whether TP splits hidden states outside of tensor-parallel regions.
  bool sequence_parallel = false;
  // Whether collectives run beside products; requires sequence_parallel. See
  // ModuleBuilder::Linear.
  bool tensor_overlap = false;
  ContextMethod context_method = ContextMethod::kRing;

  int64_t sequences = 1;  // Sequences of the micro-batch.
  int64_t positions = 1;  // Positions of a sequence that are computed.
  int64_t past = 0;       // Positions of a sequence in the KV cache.
  bool training = true;   // Whether there is a backward pass.
  bool decoding = false;  // Whether the positions are those of a decode step.

  // Precision of products with weights.
  Precision precision = Precision::kBf16;
  bool flash_attention = true;  // False: the scores are stored.
  bool fused_loss = false;      // See CrossEntropy.
  int64_t loss_metrics = 0;     // See CrossEntropy.
  int64_t loss_workspace = 2;   // See CrossEntropy.
  // Whether attention in all-to-all context parallelism keeps its output as it
  // was before the exchange, beside the one that the next product keeps.
  bool keeps_both_outputs = true;
  // Whether experts multiply what they activate by the probabilities of the
  // router. Otherwise the sum over experts does, which keeps their outputs.
  bool weights_in_experts = false;
  // Whether activations keep their inputs in FP8; see --fp8-activation-inputs.
  bool fp8_activation_inputs = false;
  // Bits of an element of attention's output, as the product after it and the
  // backward pass of attention keep it together; 0: attention keeps it in BF16,
  // and the product keeps its own copy in FP8 if it runs in FP8.
  int64_t shared_output_bits = 0;
  int64_t gradient_bytes = 4;  // Bytes of an accumulated weight gradient.

  // What a layer of experts takes beside its work, each way, in nanoseconds.
  int64_t expert_host_ns = 0;
  // Whether one kernel runs the products of all experts of a rank. Otherwise
  // each expert's product is a kernel of its own, in training.
  bool fused_experts = false;

  // Tokens of the busiest expert-parallel rank, divided by the mean.
  double expert_load = 1;
  bool fp8_dispatch = false;  // Tokens travel to their experts in FP8.
  // Whether shared experts run while tokens travel; see ExpertModules.
  bool shared_expert_overlap = false;

  // Returns how many positions a rank computes, before TP splits them.
  int64_t tokens() const { return sequences * (positions / context); }
  // Returns tokens(), divided by TP where sequence parallelism splits them.
  int64_t split_tokens() const {
    return sequence_parallel ? tokens() / tensor : tokens();
  }
  // Returns whether an all-reduce over TP sums the results of experts. This
  // happens in inference where TP splits every expert and EP spreads none: each
  // rank has all tokens of its TP group and computes its columns of the experts
  // for all of them.
  bool sums_experts() const {
    return !training && expert == 1 && expert_tensor == tensor;
  }
  // Returns how many ranks share the sending of tokens to experts. In
  // inference, each rank of a TP group sends a part of the tokens that all of
  // them have.
  int64_t routing_ranks() const {
    return sequence_parallel || (!training && !sums_experts()) ? tensor : 1;
  }
  // Returns from how many ranks the tokens for one expert are gathered.
  int64_t gathered_ranks() const { return sums_experts() ? 1 : expert_tensor; }
};

// An operator, a collective, or a wait.
struct ModuleStep {
  StepKind kind = StepKind::kCompute;
  StepWhen when = StepWhen::kEach;
  Operator op;  // For kCompute only.
  // For other kinds; a wait uses its dimension.
  Communication communication = {};
  // Whether the collective is hidden behind a product and repeats another
  // collective. SimAI's text format has a place only for the other collective.
  bool is_hidden = false;
  // In a forward pass: the modules that the step is a part of. It runs again
  // in the backward pass if one of them is recomputed.
  RecomputeModules part_of;
  // Output columns of each of the products that PyTorch runs one by one where
  // the step is several of them in one, such as queries, keys and values;
  // empty: the step is one.
  std::vector<int64_t> products;

  friend bool operator==(const ModuleStep&, const ModuleStep&) = default;
};

// Bytes that a module keeps from the forward to the backward pass, and the
// modules that make them. They are not kept if one of these is recomputed.
struct SavedTensor {
  int64_t bytes = 0;
  RecomputeModules made_by;

  friend bool operator==(const SavedTensor&, const SavedTensor&) = default;
};

struct MockModule {
  std::string name;
  // Counts of parameters are in elements that this rank holds.
  int64_t parameters = 0;  // Parameters outside of experts.
  int64_t expert_parameters = 0;
  // replicated_parameters is the part of `parameters` of which every rank of a
  // TP group holds a copy. summed_parameters is the part of these that sees
  // only the rank's own tokens with sequence parallelism, so that its gradients
  // are summed over TP.
  int64_t replicated_parameters = 0;
  int64_t summed_parameters = 0;
  // Bytes kept from the forward to the backward pass of one micro-batch. Before
  // recomputation is set, they are the sum of `saved`.
  int64_t saved_bytes = 0;
  std::vector<SavedTensor> saved;
  // Recomputed modules that an earlier module of the block begins and this one
  // continues.
  RecomputeModules continued;
  // Bytes that are not kept because of recomputation, but are there again while
  // the module goes backward; see recomputation.h.
  int64_t recomputed_bytes = 0;
  // In training, the highest sum on top of saved_bytes while an operator runs:
  // gradients of its inputs and outputs and what was gathered for it, less what
  // the operators after it had saved.
  int64_t workspace_bytes = 0;
  // Memory that follows from these sizes; see generator/module_memory.h.
  ModuleMemory memory;
  // KV cache that the micro-batch reads and writes.
  int64_t kv_cache_bytes = 0;
  std::array<std::vector<ModuleStep>, std::size(kModulePasses)> passes;

  const std::vector<ModuleStep>& pass(ModulePass pass) const {
    return passes[IndexOf(pass)];
  }

  friend bool operator==(const MockModule&, const MockModule&) = default;
};

// Return sums over the operators of a pass.
double Flops(const MockModule& module, ModulePass pass);
double BytesMoved(const MockModule& module, ModulePass pass);

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODULE_H_
