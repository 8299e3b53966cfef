// The rules that a candidate of the planner must keep to be a legal layout, in
// the order in which they are checked.
//
// A candidate counts for the first rule that it breaks. Those that break a late
// rule keep all earlier ones, so they come nearest to being legal.

#ifndef ASTRA_CORE_PLANNER_PLAN_RULES_H_
#define ASTRA_CORE_PLANNER_PLAN_RULES_H_

#include <cstdint>
#include <string_view>

namespace astra {

enum class PlanRule : uint8_t {
  kNoTensor,
  kNoContext,
  kWorld,
  kExperts,
  kBatch,
  kOrderOfStages,
  kSameOrder,
  kSharding,
  kTraining,  // The rules of CheckTraining, which have texts of their own.
  kChunks,
  kNoPipeline,
  kCut,  // The rules of PipelineCuts, which have texts of their own.
  kLayers,
  kSameOverlap,
  kFitsWithout,
  kFitsWithAll,
};

// Texts by PlanRule, as broken by a candidate.
inline constexpr std::string_view kPlanRuleTexts[] = {
    "SP without TP",
    "another method of CP with CP 1",
    "TP x CP x PP does not divide the GPUs",
    "ETP x EP does not divide the ranks of a stage",
    "DP x micro-batch does not divide the global batch",
    "an order that puts stages elsewhere for experts",
    "an order that numbers ranks as another one does",
    "ZeRO 2 or 3 with a pipeline",
    "",
    "VPP above 1 without the interleaved schedule, or the reverse",
    "a pipeline's schedule with PP 1",
    "",
    "full recomputation of more layers than a chunk of a stage has",
    "overlaps that are the same as others for the layout",
    "the recomputation that just fits is none",
    "the recomputation that just fits is of all layers",
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_PLAN_RULES_H_
