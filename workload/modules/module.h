// Mocked modules: what a part of a model computes, keeps and communicates on
// one rank, without its numbers.
//
// A module has up to four passes; see workload/program.h. Each is a sequence of
// operators and collectives in the order in which Megatron-LM runs them.

#ifndef WORKLOAD_MODULES_MODULE_H_
#define WORKLOAD_MODULES_MODULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/parallel_dimension.h"
#include "workload/operators/operator.h"
#include "workload/program.h"

namespace astra {

// How the ranks of a context-parallel group share a sequence.
enum class ContextMethod : uint8_t {
  kRing,       // Keys and values go round, hidden behind the attention.
  kAllGather,  // Keys and values are gathered first.
  kAllToAll,   // From a share of the positions to a share of the heads, back.
};

// What the sizes of all modules of a rank depend on beside the model.
struct ModuleContext {
  // The sizes of the groups; see workload/parallel_plan.h.
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t expert = 1;
  int64_t expert_tensor = 1;

  // Hidden states outside of tensor-parallel regions are split over TP.
  bool sequence_parallel = false;
  // With that, collectives run beside products; see ModuleBuilder::Linear.
  bool tensor_overlap = false;
  ContextMethod context_method = ContextMethod::kRing;

  int64_t sequences = 1;  // In the micro-batch.
  int64_t positions = 1;  // Of a sequence, that are computed.
  int64_t past = 0;       // Of a sequence, that are in the KV cache.
  bool training = true;   // There is a backward pass.

  Precision precision = Precision::kBf16;  // Of matrix products with weights.
  bool flash_attention = true;             // Otherwise the scores are stored.
  bool fused_loss = false;                 // See CrossEntropy.
  int64_t gradient_bytes = 4;  // Of a weight's gradient as it is accumulated.

  // The tokens of the busiest expert-parallel rank, over the mean.
  double expert_load = 1;
  bool fp8_dispatch = false;  // Tokens go to their experts as 8 bits.
  // Shared experts run while tokens are on their way; see ExpertModules.
  bool shared_expert_overlap = false;

  // The positions that a rank computes, before TP splits them.
  int64_t tokens() const { return sequences * (positions / context); }
  // The same where sequence parallelism splits them.
  int64_t split_tokens() const {
    return sequence_parallel ? tokens() / tensor : tokens();
  }
  // In inference each rank of a TP group has all of its tokens. Where TP splits
  // every expert and EP spreads none, tokens stay where they are: each rank
  // computes its columns of the experts for all of them, and an all-reduce sums
  // the results.
  bool sums_experts() const {
    return !training && expert == 1 && expert_tensor == tensor;
  }
  // How many ranks share the sending of tokens to their experts: in inference,
  // each rank of a TP group takes its part of what all of them have.
  int64_t routing_ranks() const {
    return sequence_parallel || (!training && !sums_experts()) ? tensor : 1;
  }
  // From how many ranks the tokens are gathered that an expert's ranks work on.
  int64_t gathered_ranks() const { return sums_experts() ? 1 : expert_tensor; }
};

// An operator, or a collective; of a wait, the dimension.
struct ModuleStep {
  StepKind kind = StepKind::kCompute;
  StepWhen when = StepWhen::kEach;
  Operator op;                       // kCompute.
  Communication communication = {};  // Otherwise.
  // A collective that only repeats one that the text format of SimAI has a
  // place for, and that is hidden behind a product.
  bool is_hidden = false;

  friend bool operator==(const ModuleStep&, const ModuleStep&) = default;
};

struct MockModule {
  std::string name;
  // Elements that this rank holds.
  int64_t parameters = 0;  // Outside of experts.
  int64_t expert_parameters = 0;
  // Of `parameters`, those that every rank of a TP group holds a copy of; and
  // of these, those that see only the rank's own tokens with sequence
  // parallelism, so that their gradients are summed over TP.
  int64_t replicated_parameters = 0;
  int64_t summed_parameters = 0;
  // Bytes kept from the forward to the backward pass of one micro-batch.
  // Of these, what recomputing the scores of attention saves.
  int64_t saved_bytes = 0;
  int64_t score_bytes = 0;
  // Of what was saved, what is not but comes back when it is recomputed.
  int64_t recomputed_bytes = 0;
  // The most that is there only while an operator runs, in training: gradients
  // of its inputs and outputs, what was gathered for it.
  int64_t workspace_bytes = 0;
  // What follows from these and the setup; see generator/module_memory.h.
  ModuleMemory memory;
  int64_t kv_cache_bytes = 0;  // Read and written by the micro-batch.
  std::array<std::vector<ModuleStep>, std::size(kModulePasses)> passes;

  const std::vector<ModuleStep>& pass(ModulePass pass) const {
    return passes[IndexOf(pass)];
  }

  friend bool operator==(const MockModule&, const MockModule&) = default;
};

// The sums over the operators of a pass.
double Flops(const MockModule& module, ModulePass pass);
double BytesMoved(const MockModule& module, ModulePass pass);

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODULE_H_
