// Builds a MockModule in the order of its forward pass. The backward pass is
// built along with it, in reverse order.

#ifndef WORKLOAD_MODULES_MODULE_BUILDER_H_
#define WORKLOAD_MODULES_MODULE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/modules/module.h"

namespace astra {

class ModuleBuilder {
 public:
  ModuleBuilder(std::string_view name, const ModuleContext& context);

  const ModuleContext& context() const { return context_; }

  // One linear layer of this rank and its three products: `groups` times tokens
  // x inputs by inputs x outputs. Its weights are counted by Parameters(), not
  // here. Keeps `saved_tokens` x inputs for the backward pass, or all tokens by
  // default. Gradients of inputs and outputs exist at the same time, beside the
  // inputs that are gathered again; see BeginRegion.
  struct Product {
    std::string_view op;
    int64_t groups = 1;
    int64_t tokens = 0;  // Tokens of each group.
    int64_t inputs = 0;
    int64_t outputs = 0;
    int64_t saved_tokens = -1;  // Tokens of all groups; -1: all are kept.
    // Whether another product takes the same input and keeps it for both. In
    // FP8 each product keeps a copy of its own.
    bool shares_input = false;
    // Bits of an element that is kept; 0: as the product takes it.
    int64_t saved_bits = 0;
    // Columns of the products that it is in PyTorch; see ModuleStep::products.
    std::vector<int64_t> parts = {};
    bool is_exact = false;  // Stays in BF16 even where others are in FP8.
    // Whether a kernel of its own casts the inputs, or the gradients of the
    // outputs, to FP8. Otherwise the cast is part of a norm or an activation.
    bool casts_inputs = false;
    bool casts_gradients = true;
    Routed routed = {};
  };
  // Adds the products. In FP8, a cast reads 2 bytes of an element and writes 1,
  // and in training another byte for the transposed copy that the weight
  // gradient needs. Without a cast, the inputs are transposed by a kernel, from
  // 1 byte to 1 byte.
  //
  // In training each group is a kernel of its own, and its weight gradients are
  // added to the accumulated ones of gradient_bytes.
  //
  // With tensor_overlap, a product right after the begin of a region or right
  // before its end is cut into TP products, each for a share of the tokens. All
  // but one run beside the collective: the exception is the product whose
  // tokens arrive last or whose results leave first. In both cases the time is
  // that of a ring whose steps run beside products: at most t / TP more than
  // the longer one of the collective and the product, which takes t. A product
  // with `is_exact` is not cut.
  //
  // Source: NVIDIA, Transformer Engine: cast_transpose, layernorm_mlp.py; the
  // overlap of communication with GEMM ("ring_exchange" and "pipeline" of its
  // user buffers).
  void Linear(const Product& product);

  // Adds the collectives around what tensor parallelism splits, for hidden
  // states of `width` elements. With sequence parallelism, an all-gather begins
  // a region and a reduce-scatter ends it. The backward pass does the reverse
  // and gathers the inputs once more behind the products. Without sequence
  // parallelism, an all-reduce ends the region, and one of the gradient begins
  // it.
  //
  // Source: Korthikanti et al., arXiv 2205.05198, section 4.2.2.
  void BeginRegion(int64_t width);
  void EndRegion(int64_t width);

  // An operator bound by memory. It reads or writes each of `elements` elements
  // of 2 bytes `forward` and `backward` times and keeps `saved_bytes`. In
  // addition it needs `workspace_bytes`, by default an input and an output.
  struct Streaming {
    std::string_view op;
    int64_t elements = 0;
    int64_t forward = 0;
    int64_t backward = 0;
    int64_t saved_bytes = 0;
    int64_t workspace_bytes = -1;
  };
  void Stream(const Streaming& streaming);

  // Adds an operator of any kind. Backward operators run in reverse order of
  // adding.
  void Forward(const Operator& op);
  void Backward(const Operator& op);

  // Adds a collective that the computation waits for. Backward collectives run
  // in reverse order of adding. A group of one rank, or zero bytes, adds
  // nothing.
  void ForwardCollective(CollectiveKind kind, ParallelDimension dimension,
                         int64_t bytes);
  void BackwardCollective(CollectiveKind kind, ParallelDimension dimension,
                          int64_t bytes);
  // Adds a collective during which `ops` run, in order.
  void ForwardBehind(CollectiveKind kind, ParallelDimension dimension,
                     int64_t bytes, const std::vector<Operator>& ops);
  void BackwardBehind(CollectiveKind kind, ParallelDimension dimension,
                      int64_t bytes, const std::vector<Operator>& ops);

  // Adds a collective that continues while other modules run, until a wait in
  // one of them. In the backward pass, the wait comes first and the launch
  // last.
  void ForwardLaunch(CollectiveKind kind, ParallelDimension dimension,
                     int64_t bytes);
  void ForwardWait(ParallelDimension dimension);
  void BackwardLaunch(CollectiveKind kind, ParallelDimension dimension,
                      int64_t bytes);
  void BackwardWait(ParallelDimension dimension);

  // Begin and end what belongs to a module that may be recomputed. What is
  // kept of the input of its first operator is no part of it. Modules nest. Of
  // one that is still open in the end, a later module of the block has the
  // rest: it begins with Continue().
  void Begin(RecomputeModule module);
  void End(RecomputeModule module);
  void Continue(RecomputeModule module);
  // Tells that `module` made what the next operator takes.
  void TakesFrom(RecomputeModule module) { made_by_.Add(module); }

  void Parameters(int64_t count) { module_.parameters += count; }
  // Counts parameters that every rank of a TP group holds; see
  // MockModule::summed_parameters.
  void ReplicatedParameters(int64_t count, bool is_summed = true);
  void ExpertParameters(int64_t count) { module_.expert_parameters += count; }
  // Keeps bytes of what the last operator made, or of the input of the module.
  void Saved(int64_t bytes);
  // Tells what the operator that was added last needs while it runs, on top of
  // what has been saved up to now. What operators after it save is gone when it
  // goes backward. The highest sum counts.
  void Workspace(int64_t bytes);
  void KvCache(int64_t bytes) { module_.kv_cache_bytes += bytes; }

  MockModule Take();

 private:
  std::vector<ModuleStep>& pass(ModulePass pass) {
    return module_.passes[IndexOf(pass)];
  }
  // Adds the forward product, behind a cast if `is_cast`. `overlaps` tells
  // whether it overlaps a gather that stands right before it.
  void ForwardProduct(const ModuleStep& product, bool is_cast, bool overlaps);
  void AddForward(const ModuleStep& step);
  RecomputeModules OpenModules() const;
  Operator Cast(int64_t elements) const;
  // Keeps bytes of what `makers` made.
  void Save(int64_t bytes, RecomputeModules makers);
  bool IsNeeded(ParallelDimension dimension, int64_t bytes) const;
  bool Overlaps() const {
    return context_.tensor_overlap && context_.sequence_parallel &&
           context_.tensor > 1;
  }
  // Puts `steps` before the backward pass as built so far.
  void PrependBackward(const std::vector<ModuleStep>& steps);

  const ModuleContext context_;
  MockModule module_;
  // Bytes that the next product gathers once more when it goes backward.
  int64_t gathered_bytes_ = 0;
  int64_t peak_bytes_ = 0;  // Highest sum of saved bytes and a workspace.
  // Modules that have begun, and the forward steps before each of them.
  struct OpenModule {
    RecomputeModule module;
    size_t first_step;
  };
  std::vector<OpenModule> open_;
  // Modules that made what the next operator takes.
  RecomputeModules made_by_;
  // Steps at the begin and the end of the input gradient, and at the end of the
  // weight gradient.
  std::vector<ModuleStep> input_gradient_begin_;
  std::vector<ModuleStep> input_gradient_end_;
  std::vector<ModuleStep> weight_gradient_end_;
};

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODULE_BUILDER_H_
