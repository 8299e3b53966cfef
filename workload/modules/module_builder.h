// Puts a MockModule together in the order of its forward pass; the backward
// pass follows, in reverse.

#ifndef WORKLOAD_MODULES_MODULE_BUILDER_H_
#define WORKLOAD_MODULES_MODULE_BUILDER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/modules/module.h"

namespace astra {

class ModuleBuilder {
 public:
  ModuleBuilder(std::string_view name, const ModuleContext& context);

  const ModuleContext& context() const { return context_; }

  // The three products of a linear layer on this rank: tokens x inputs by
  // inputs x outputs, in `groups` of them. Weights are not counted here: see
  // Parameters(). Keeps `saved_tokens` x inputs for the backward pass, or all
  // the tokens; gradients of inputs and outputs are there at the same time.
  struct Product {
    std::string_view op;
    int64_t groups = 1;
    int64_t tokens = 0;  // Of each group.
    int64_t inputs = 0;
    int64_t outputs = 0;
    int64_t saved_tokens = -1;  // Of all groups.
    bool is_exact = false;      // In BF16, also where others are in FP8.
    // Whether a kernel casts the inputs, or the gradients of the outputs, to
    // FP8. Otherwise that is part of a norm or an activation.
    bool casts_inputs = false;
    bool casts_gradients = true;
  };
  // In FP8 a cast reads 2 bytes of an element and writes 1, and in training a
  // transposed one for the weight gradient; without a cast, inputs are
  // transposed by themselves, from 1 byte to 1.
  //
  // In training, groups are kernels of their own, and their weight gradients
  // are added to those of gradient_bytes.
  //
  // With tensor_overlap, a product right behind the begin of a region, or right
  // before its end, is TP products of a share of the tokens each: the others
  // run beside the collective, but the one whose tokens come last, or the one
  // whose results leave first, do not. Both ways the time is that of a ring
  // whose steps run beside products: at most t / TP more than the longer one of
  // the collective and the product, which takes t. `is_exact`: not so.
  //
  // Source: NVIDIA, Transformer Engine: cast_transpose, layernorm_mlp.py; the
  // overlap of communication with GEMM ("ring_exchange" and "pipeline" of its
  // user buffers).
  void Linear(const Product& product);

  // The collectives around what tensor parallelism splits, for hidden states
  // `width` wide. With sequence parallelism an all-gather begins a region and a
  // reduce-scatter ends it, and the reverse in the backward pass, where the
  // inputs are gathered once more behind the products; without it, an
  // all-reduce ends it, and one of the gradient begins it.
  //
  // Source: Korthikanti et al., arXiv 2205.05198, section 4.2.2.
  void BeginRegion(int64_t width);
  void EndRegion(int64_t width);

  // Something bound by memory that reads or writes each of `elements` of 2
  // bytes so many times, and keeps `saved_bytes`. Beside those it needs
  // `workspace_bytes`, or an input and an output.
  struct Streaming {
    std::string_view op;
    int64_t elements = 0;
    int64_t forward = 0;
    int64_t backward = 0;
    int64_t saved_bytes = 0;
    int64_t workspace_bytes = -1;
  };
  void Stream(const Streaming& streaming);

  // Operators of any kind. Backward ones run in the reverse of this order.
  void Forward(const Operator& op);
  void Backward(const Operator& op);

  // A collective that the computation waits for; in the backward pass, in the
  // reverse of this order. None over a group of one rank, or of no bytes.
  void ForwardCollective(CollectiveKind kind, ParallelDimension dimension,
                         int64_t bytes);
  void BackwardCollective(CollectiveKind kind, ParallelDimension dimension,
                          int64_t bytes);
  // The same, but `ops` run at the same time, in order.
  void ForwardBehind(CollectiveKind kind, ParallelDimension dimension,
                     int64_t bytes, const std::vector<Operator>& ops);
  void BackwardBehind(CollectiveKind kind, ParallelDimension dimension,
                      int64_t bytes, const std::vector<Operator>& ops);

  // A collective that runs on while other modules do, up to a wait in one of
  // them. In the backward pass, the wait comes first, and the launch last.
  void ForwardLaunch(CollectiveKind kind, ParallelDimension dimension,
                     int64_t bytes);
  void ForwardWait(ParallelDimension dimension);
  void BackwardLaunch(CollectiveKind kind, ParallelDimension dimension,
                      int64_t bytes);
  void BackwardWait(ParallelDimension dimension);

  void Parameters(int64_t count) { module_.parameters += count; }
  // Held by every rank of a TP group; see MockModule::summed_parameters.
  void ReplicatedParameters(int64_t count, bool is_summed = true);
  void ExpertParameters(int64_t count) { module_.expert_parameters += count; }
  void Saved(int64_t bytes);
  // The same, of the scores of attention: see MockModule::score_bytes.
  void SavedScores(int64_t bytes);
  // There while some operator runs; of several such, the largest counts.
  void Workspace(int64_t bytes);
  void KvCache(int64_t bytes) { module_.kv_cache_bytes += bytes; }

  MockModule Take();

 private:
  std::vector<ModuleStep>& pass(ModulePass pass) {
    return module_.passes[IndexOf(pass)];
  }
  // The forward product, perhaps behind a cast; `overlaps` with a gather that
  // stands right before it.
  void ForwardProduct(const Operator& product, bool is_cast, bool overlaps);
  Operator Cast(int64_t elements) const;
  bool IsNeeded(ParallelDimension dimension, int64_t bytes) const;
  bool Overlaps() const {
    return context_.tensor_overlap && context_.sequence_parallel &&
           context_.tensor > 1;
  }
  // In front of what the backward pass does so far.
  void PrependBackward(const std::vector<ModuleStep>& steps);

  const ModuleContext context_;
  MockModule module_;
  int64_t gathered_bytes_ = 0;  // From the begin of a region on.
  // The begin and the end of the input gradient, the end of the weight
  // gradient.
  std::vector<ModuleStep> input_gradient_begin_;
  std::vector<ModuleStep> input_gradient_end_;
  std::vector<ModuleStep> weight_gradient_end_;
};

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODULE_BUILDER_H_
