#include "astra-core/serving/draft_times.h"

#include <algorithm>
#include <utility>

namespace astra {

ModelSpec OneBlockOf(const ModelSpec& model) {
  ModelSpec block = model;
  block.layers = 1;
  if (block.experts) {
    block.experts->dense_layers = 0;
    block.feed_forward.ffn = 0;  // That of the dense blocks.
  }
  return block;
}

ServingLayout DraftLayoutOf(const ModelSpec& draft,
                            const ServingLayout& layout) {
  ServingLayout of_draft = layout;
  of_draft.pipeline = 1;
  if (!draft.experts) {
    of_draft.expert = 1;
    of_draft.mxfp4_experts = false;
  }
  return of_draft;
}

DraftTimes::DraftTimes(StepPrices prices, const ServingFacts& facts)
    : prices_(std::move(prices)),
      facts_(WithoutHost(facts)),
      times_(prices_, facts_) {}

StepParts DraftTimes::Of(absl::Span<const StepWork> ranks) {
  int64_t passes = 0;
  pass_.assign(ranks.begin(), ranks.end());
  for (StepWork& work : pass_) {
    if (work.draft_tokens > 0) {
      passes = std::max(passes,
                        (work.draft_tokens + work.decodes - 1) / work.decodes);
    }
    work.draft_tokens = 0;
    work.samples = work.decodes;
  }
  const auto has_work = [this] {
    return std::any_of(pass_.begin(), pass_.end(),
                       [](const StepWork& work) { return work.tokens() > 0; });
  };
  StepParts sum;
  if (has_work()) sum = times_.PartsOf(pass_);
  for (StepWork& work : pass_) work.chunks.clear();
  if (passes < 2 || !has_work()) return sum;
  const StepParts pass = times_.PartsOf(pass_);
  for (; passes > 1; --passes) sum += pass;
  return sum;
}

}  // namespace astra
