// What it takes to make the drafts that a step verifies.
//
//   DraftTimes drafts(StepPrices(draft_model, ...), facts);
//   parts.back() += drafts.Of(ranks);
//
// Model. A model of its own makes the drafts one after the other, so that K of
// them take K passes with one position of each decoding sequence. The first
// pass also computes the prompts of the step, whose keys the draft model needs.
// It runs on the GPUs of the last pipeline stage, with the same TP. A block of
// the model itself (MTP, and nearly so EAGLE) is a draft model of one layer
// with its own logits.
//
// Sources: vLLM, vllm/v1/spec_decode/eagle.py (propose) and llm_base_proposer;
// SGLang, python/sglang/srt/speculative/eagle_worker.py. Drafts that need no
// model (n-grams) take no time here.

#ifndef ASTRA_CORE_SERVING_DRAFT_TIMES_H_
#define ASTRA_CORE_SERVING_DRAFT_TIMES_H_

#include <vector>

#include "absl/types/span.h"
#include "astra-core/serving/step_prices.h"
#include "astra-core/serving/step_times.h"
#include "collectives/inference_engines/serving_facts.h"
#include "workload/models/model_spec.h"
#include "workload/serving/step.h"

namespace astra {

// Returns a model of one block of `model`, of its last kind.
ModelSpec OneBlockOf(const ModelSpec& model);

// Returns how a draft model is spread over the GPUs of `layout`.
ServingLayout DraftLayoutOf(const ModelSpec& draft,
                            const ServingLayout& layout);

class DraftTimes {
 public:
  // Requires that prices.Check() was ok.
  DraftTimes(StepPrices prices, const ServingFacts& facts);
  DraftTimes(const DraftTimes&) = delete;
  DraftTimes& operator=(const DraftTimes&) = delete;

  // Returns the parts of all passes beside a step; `ranks` are as in
  // StepCost::AddStages(). No time if the step has nothing for them.
  StepParts Of(absl::Span<const StepWork> ranks);

 private:
  StepPrices prices_;
  const ServingFacts facts_;  // Without the host.
  StepTimes times_;
  std::vector<StepWork> pass_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_DRAFT_TIMES_H_
