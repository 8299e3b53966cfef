#include "astra-core/serving/kv_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "astra-core/base/status_macros.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"

namespace astra {
namespace {

constexpr double kRounding = 1e-9;

// A part of the whole cache, from 0 to 1.
struct Interval {
  double begin = 0;
  double end = 1;

  double Overlap(const Interval& other) const {
    return std::max(0.0,
                    std::min(end, other.end) - std::max(begin, other.begin));
  }
};

// Returns the bytes that a GPU of each stage keeps of `tokens` positions.
absl::StatusOr<std::vector<double>> CacheOfStages(const ModelSpec& model,
                                                  const ServingLayout& layout,
                                                  int64_t tokens) {
  // Experts hold no cache, and each rank of attention has one of its own.
  ServingLayout of_cache = layout;
  of_cache.attention_ranks = of_cache.expert = 1;
  InferenceSetup setup = SetupOf(of_cache);
  setup.positions = tokens;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(model, setup));
  std::vector<double> stages;
  for (const ProgramStage& stage : blueprint.stages) {
    double bytes = 0;
    for (const ModuleRun& run : stage.runs) {
      for (const ModuleId id : run.modules) {
        const MockModule& module = blueprint.modules[id.index()];
        bytes += static_cast<double>(run.times * module.memory.cache.count());
      }
    }
    stages.insert(stages.end(), static_cast<size_t>(stage.count), bytes);
  }
  return stages;
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
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
                                      int64_t tokens, double whole) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> stages,
                         CacheOfStages(model, layout, tokens));
  const double of_ranks = Sum(stages);
  Placement placement;
  placement.tensor = layout.tensor;
  placement.parts =
      std::clamp<int64_t>(std::llround(whole / of_ranks), 1, layout.tensor);
  while (layout.tensor % placement.parts != 0) --placement.parts;
  double before = 0;
  for (const double bytes : stages) {
    const double after = before + bytes / of_ranks;
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
  constexpr int64_t kFew = 16;
  constexpr int64_t kMany = 32;
  ServingLayout alone = from;
  alone.tensor = alone.pipeline = alone.expert = 1;
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> few,
                         CacheOfStages(model, alone, kFew));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<double> many,
                         CacheOfStages(model, alone, kMany));
  KvLayout kv;
  kv.layers = model.layers;
  kv.bytes_per_token =
      (Sum(many) - Sum(few)) / static_cast<double>(kMany - kFew);
  kv.fixed_bytes =
      std::max(0.0, Sum(few) - kv.bytes_per_token * static_cast<double>(kFew));
  ASTRA_ASSIGN_OR_RETURN(const Placement source,
                         PlacementOf(model, from, kMany, Sum(many)));
  ASTRA_ASSIGN_OR_RETURN(const Placement target,
                         PlacementOf(model, to, kMany, Sum(many)));
  for (size_t stage = 0; stage < target.stages.size(); ++stage) {
    for (int64_t rank = 0; rank < target.tensor; ++rank) {
      AppendFlows(source, target, stage, rank, &kv.flows);
    }
  }
  return kv;
}

}  // namespace astra
