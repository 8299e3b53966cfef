#include "astra-core/serving/kv_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

constexpr double kRounding = 1e-9;

// Positions by which the shares of stages and heads are taken.
constexpr int64_t kPlacedTokens = 32;

// A part of the whole cache, from 0 to 1.
struct Interval {
  double begin = 0;
  double end = 1;

  double Overlap(const Interval& other) const {
    return std::max(0.0,
                    std::min(end, other.end) - std::max(begin, other.begin));
  }
};

// Returns the caches of the stages of one rank of attention. Experts hold no
// cache, and each such rank has one of its own.
absl::StatusOr<std::vector<SequenceCache>> CachesOf(const ModelSpec& model,
                                                    ServingLayout layout) {
  layout.attention_ranks = layout.expert = 1;
  return SequenceCachesOf(model, layout);
}

// How the cache lies on one replica.
struct Placement {
  int64_t tensor = 1;
  int64_t parts = 1;  // Different parts of the cache of a stage.
  std::vector<Interval> stages;

  int64_t copies() const { return tensor / parts; }
  Interval PartOf(int64_t rank) const {
    const double all = static_cast<double>(parts);
    const int64_t part = rank / copies();
    return {static_cast<double>(part) / all,
            static_cast<double>(part + 1) / all};
  }
};

absl::StatusOr<Placement> PlacementOf(const ModelSpec& model,
                                      const ServingLayout& layout,
                                      double whole) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> stages,
                         CachesOf(model, layout));
  const double of_ranks =
      std::accumulate(stages.begin(), stages.end(), 0.0,
                      [](double sum, const SequenceCache& stage) {
                        return sum + stage.BytesOf(kPlacedTokens);
                      });
  Placement placement;
  placement.tensor = layout.tensor;
  placement.parts =
      std::clamp<int64_t>(std::llround(whole / of_ranks), 1, layout.tensor);
  while (layout.tensor % placement.parts != 0) --placement.parts;
  double before = 0;
  for (const SequenceCache& stage : stages) {
    const double after = before + stage.BytesOf(kPlacedTokens) / of_ranks;
    placement.stages.push_back({before, after});
    before = after;
  }
  return placement;
}

// Appends what the rank `target` of stage `stage` of `to` receives.
void AppendFlows(const Placement& from, const Placement& to, size_t stage,
                 int64_t target, std::vector<KvFlow>* flows) {
  const Interval part = to.PartOf(target);
  for (size_t s = 0; s < from.stages.size(); ++s) {
    const double layers = from.stages[s].Overlap(to.stages[stage]);
    if (layers < kRounding) continue;
    // One of the ranks that have a copy, in turn.
    for (int64_t source = target % from.copies(); source < from.tensor;
         source += from.copies()) {
      const double heads = from.PartOf(source).Overlap(part);
      if (heads < kRounding) continue;
      flows->push_back({static_cast<uint32_t>(
                            static_cast<int64_t>(s) * from.tensor + source),
                        static_cast<uint32_t>(
                            static_cast<int64_t>(stage) * to.tensor + target),
                        layers * heads});
    }
  }
}

}  // namespace

absl::StatusOr<KvLayout> KvLayoutOf(const ModelSpec& model,
                                    const ServingLayout& from,
                                    const ServingLayout& to) {
  ServingLayout alone = from;
  alone.tensor = alone.pipeline = 1;
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> whole,
                         CachesOf(model, alone));
  KvLayout kv;
  kv.layers = model.layers;
  kv.cache = whole.front();
  const double bytes = kv.BytesOf(kPlacedTokens);
  ServingLayout as_sent = to;  // In the precision that is sent.
  as_sent.fp8_cache = from.fp8_cache;
  ASTRA_ASSIGN_OR_RETURN(const Placement source,
                         PlacementOf(model, from, bytes));
  ASTRA_ASSIGN_OR_RETURN(const Placement target,
                         PlacementOf(model, as_sent, bytes));
  for (size_t stage = 0; stage < target.stages.size(); ++stage) {
    for (int64_t rank = 0; rank < target.tensor; ++rank) {
      AppendFlows(source, target, stage, rank, &kv.flows);
    }
  }
  return kv;
}

}  // namespace astra
