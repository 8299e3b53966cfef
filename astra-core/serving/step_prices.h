// Prices the parts of one step of a serving replica: a forward pass over parts
// of prompts together with one new position of each running sequence.
//
//   products, norms, experts, collectives   of all positions of the step; with
//                                           ranks of data-parallel attention,
//                                           experts and the way of tokens to
//                                           them apart from the rest
//   attention, and what makes its keys      of each part of a prompt, and of
//                                           all running sequences at once, with
//                                           their mean context
//   logits and sampling                     of the sequences that get a token
//
// The operators and collectives are those of InferenceBlueprint, so that a step
// of only one kind takes what `gen_workload --phase --engine` and
// simai_analytical say.
// Every part is summed over the pipeline stages, one after the other, or is
// that of one stage with the message to the next one.
//
// With data-parallel attention a rank holds sequences of its own: TP GPUs
// compute its attention, shared experts and dense layers for them, and the
// experts are spread over the GPUs of all ranks. As vLLM lays it out (docs/
// serving/data_parallel_deployment.md); SGLang's --tp is TP x ranks there
// (server_args.py, enable_dp_attention).
//
//   StepPrices prices(model, layout, times, fused, graph, eager);
//   ASTRA_RETURN_IF_ERROR(prices.Check());
//   const StepSeconds shared = prices.Shared(512, /*in_graph=*/true);

#ifndef ASTRA_CORE_SERVING_STEP_PRICES_H_
#define ASTRA_CORE_SERVING_STEP_PRICES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/serving/step_traffic.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"
#include "workload/models/model_spec.h"
#include "workload/operators/compute_model.h"
#include "workload/operators/fused_kernels.h"

namespace astra {

// Seconds by what bounds them, how many kernels take them, and how long the
// host needs to start others, of which that was measured.
struct StepSeconds {
  double compute = 0;
  double memory = 0;  // And the start and end of small kernels.
  double collectives = 0;
  double kernels = 0;
  double host = 0;
  // Of the collectives that span servers. Empty unless it is watched; see
  // StepPrices::WatchTraffic().
  StepTraffic traffic = {};

  double sum() const { return compute + memory + collectives; }
  StepSeconds& operator+=(const StepSeconds& other);
};

// Returns a + share x (b - a) of each part.
StepSeconds Between(const StepSeconds& a, const StepSeconds& b, double share);

// How a replica is spread over GPUs.
struct ServingLayout {
  int64_t tensor = 1;
  int64_t attention_ranks = 1;  // Of data-parallel attention.
  int64_t pipeline = 1;
  // Divides TP, or is 1; TP x attention_ranks if there are several of these.
  int64_t expert = 1;
  Precision precision = Precision::kBf16;
  double expert_load = 1;  // See ModuleContext::expert_load.
  // Weights of experts are read in MXFP4 (4 bits, and a scale of a byte for 32
  // of them) and multiplied in the precision of activations.
  bool mxfp4_experts = false;
  // The KV cache is in FP8, and everything else as `precision` says.
  bool fp8_cache = false;

  int64_t num_gpus() const { return tensor * attention_ranks * pipeline; }
};

// Bytes of a weight of experts in MXFP4, over those in BF16.
inline constexpr double kMxfp4Share = 17.0 / 64;

// Time of decode attention over an FP8 cache, over that over a BF16 one: the
// median of NVIDIA AIConfigurator's tables of H100 (ai-dynamo/aiconfigurator
// 095f58a, TensorRT-LLM's kernels) where the latter takes 0.1 ms or more.
inline constexpr double kFp8CacheShare = 0.585;

// Returns the setup of a step of one position.
InferenceSetup SetupOf(const ServingLayout& layout);

class StepPrices {
 public:
  // All must outlive the object. `graph` times collectives from a CUDA graph,
  // and `eager` those behind other work of their stream. `stage`: the only
  // pipeline stage to price, from 0 on; none: all of them.
  StepPrices(ModelSpec model, const ServingLayout& layout,
             const ComputeModel& times, FusedKernels fused, GroupSeconds& graph,
             GroupSeconds& eager, std::optional<int64_t> stage = std::nullopt);

  // Lets the prices tell what collectives put between servers. Call it before
  // Check().
  void WatchTraffic() { watches_traffic_ = true; }

  // Returns whether Shared() leaves out experts, for Experts() to price.
  bool has_attention_ranks() const { return layout_.attention_ranks > 1; }

  // Prices a step of each kind. Errors: those of InferenceBlueprint and of
  // GroupSeconds.
  absl::Status Check();

  // Return the prices of parts, of at least one position each. Require that
  // Check() was ok.
  StepSeconds Shared(int64_t tokens, bool in_graph);
  // `tokens`: the mean over the ranks of data-parallel attention.
  StepSeconds Experts(int64_t tokens, bool in_graph);
  // `parts` equal parts of prompts at once.
  StepSeconds Prefill(int64_t parts, int64_t tokens, int64_t cached);
  // `context`: positions in the cache of each of the `batch` sequences, which
  // compute `queries` positions behind them.
  StepSeconds Decode(int64_t batch, int64_t context, int64_t queries = 1);
  StepSeconds Sample(int64_t sequences, bool in_graph);

 private:
  enum class Part : uint8_t { kShared, kExperts, kAttention, kSample };

  InferenceSetup StepOf(InferencePhase phase, int64_t batch, int64_t positions,
                        int64_t cached = 0) const;
  absl::StatusOr<StepSeconds> Price(const InferenceSetup& setup, Part part,
                                    GroupSeconds& groups);
  StepSeconds PriceOrDie(const InferenceSetup& setup, Part part,
                         GroupSeconds& groups);
  Part PartOf(const MockModule& module, const ModuleStep& step,
              const ModuleStep* next) const;
  // Returns how many of `count` equal stages, `first` the first, are priced.
  int64_t PricedOf(int64_t first, int64_t count) const;
  void AddModule(const MockModule& module, Part part, double times,
                 GroupSeconds& groups, StepSeconds& sum) const;

  // Adds `times` collectives over `bytes`.
  void AddCollective(CollectiveKind kind, RankGroup group, Bytes bytes,
                     double times, GroupSeconds& groups,
                     StepSeconds& sum) const;
  double SecondsOf(const Operator& op, const OperatorTime& time) const;

  ModelSpec model_;
  const ServingLayout layout_;
  const ComputeModel& times_;
  const FusedKernels fused_;
  GroupSeconds& graph_;
  GroupSeconds& eager_;
  const std::optional<int64_t> stage_;
  bool watches_traffic_ = false;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_STEP_PRICES_H_
