// Times the steps of a replica, by pipeline stage and with the model that makes
// its drafts, if it has one.
//
//   ASTRA_ASSIGN_OR_RETURN(
//       const std::unique_ptr<ReplicaSteps> steps,
//       ReplicaSteps::Create(model, layout, std::nullopt, facts, sources));
//   steps->AddParts(ranks, &parts);  // One StepParts for each stage.

#ifndef ASTRA_CORE_SERVING_REPLICA_STEPS_H_
#define ASTRA_CORE_SERVING_REPLICA_STEPS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/planner/group_seconds.h"
#include "astra-core/serving/draft_times.h"
#include "astra-core/serving/stage_times.h"
#include "astra-core/serving/step_prices.h"
#include "astra-core/serving/step_times.h"
#include "collectives/inference_engines/serving_facts.h"
#include "workload/models/model_spec.h"
#include "workload/serving/step.h"

namespace astra {

// What prices operators and collectives; see StepPrices. All must outlive the
// steps that are priced with it.
struct PriceSources {
  const ComputeModel& times;
  FusedKernels fused;
  GroupSeconds& graph;
  GroupSeconds& eager;
};

// The object does not move, since its parts refer to one another.
class ReplicaSteps : public StepCost {
 public:
  // `draft`: the model that makes drafts. `facts` must outlive the result.
  // Errors: those of StepPrices::Check().
  static absl::StatusOr<std::unique_ptr<ReplicaSteps>> Create(
      const ModelSpec& model, const ServingLayout& layout,
      const std::optional<ModelSpec>& draft, const ServingFacts& facts,
      const PriceSources& sources);

  ReplicaSteps(const ReplicaSteps&) = delete;
  ReplicaSteps& operator=(const ReplicaSteps&) = delete;

  // Adds the parts of each pipeline stage of a step; see StepCost::AddStages().
  void AddParts(absl::Span<const StepWork> ranks,
                std::vector<StepParts>* parts);

  // Times a step that no other follows, without drafts.
  TimePs TimeOf(const StepWork& work) override { return times_.TimeOf(work); }
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<TimePs>* stages) override;

 private:
  ReplicaSteps(StepPrices prices, const ServingFacts& facts)
      : prices_(std::move(prices)), times_(prices_, facts) {}

  StepPrices prices_;
  StepTimes times_;
  std::optional<StageTimes> stages_;  // Only with several of them.
  std::optional<DraftTimes> drafts_;  // Only with a model that makes drafts.
  std::vector<StepParts> parts_;      // Kept for their memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_REPLICA_STEPS_H_
