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
  // the tokens.
  struct Product {
    std::string_view op;
    int64_t groups = 1;
    int64_t tokens = 0;  // Of each group.
    int64_t inputs = 0;
    int64_t outputs = 0;
    int64_t saved_tokens = -1;  // Of all groups.
    bool is_exact = false;      // In BF16, also where others are in FP8.
  };
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
  // bytes so many times, and keeps `saved_bytes`.
  struct Streaming {
    std::string_view op;
    int64_t elements = 0;
    int64_t forward = 0;
    int64_t backward = 0;
    int64_t saved_bytes = 0;
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
  // The same, but `op` runs at the same time; in the backward pass, `op` is one
  // that was added with Backward().
  void ForwardBehind(CollectiveKind kind, ParallelDimension dimension,
                     int64_t bytes, const Operator& op);
  void BackwardBehind(CollectiveKind kind, ParallelDimension dimension,
                      int64_t bytes, const Operator& op);

  void Parameters(int64_t count) { module_.parameters += count; }
  // Held by every rank of a TP group; see MockModule::summed_parameters.
  void ReplicatedParameters(int64_t count, bool is_summed = true);
  void ExpertParameters(int64_t count) { module_.expert_parameters += count; }
  void Saved(int64_t bytes);
  // The same, of the scores of attention: see MockModule::score_bytes.
  void SavedScores(int64_t bytes);
  void KvCache(int64_t bytes) { module_.kv_cache_bytes += bytes; }

  MockModule Take();

 private:
  std::vector<ModuleStep>& pass(ModulePass pass) {
    return module_.passes[IndexOf(pass)];
  }
  bool IsNeeded(ParallelDimension dimension, int64_t bytes) const;
  // In front of what the backward pass does so far.
  void PrependBackward(const std::vector<ModuleStep>& steps);

  const ModuleContext context_;
  MockModule module_;
  // The begin and the end of the input gradient, the end of the weight
  // gradient.
  std::vector<ModuleStep> input_gradient_begin_;
  std::vector<ModuleStep> input_gradient_end_;
  std::vector<ModuleStep> weight_gradient_end_;
};

}  // namespace astra

#endif  // WORKLOAD_MODULES_MODULE_BUILDER_H_
