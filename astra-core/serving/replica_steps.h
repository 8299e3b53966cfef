// Times the steps of a replica, by pipeline stage and with the model that makes
// its drafts, if it has one.
//
//   ASTRA_ASSIGN_OR_RETURN(
//       const std::unique_ptr<ReplicaSteps> steps,
//       ReplicaSteps::Create(model, layout, std::nullopt, facts, sources));
//   steps->AddParts(ranks, &parts);  // One StepParts for each stage.
//   steps->AddTimes(parts, &stages);

#ifndef ASTRA_CORE_SERVING_REPLICA_STEPS_H_
#define ASTRA_CORE_SERVING_REPLICA_STEPS_H_

#include <compare>
#include <cstdint>
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
#include "astra-core/serving/step_traffic.h"
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
  // Whether steps tell what their collectives put between servers.
  bool watches_traffic = false;
};

// Which ranks of a replica send, and in which proportions.
struct StagePattern {
  TrafficKind kind;
  int64_t stage = 0;  // Pipeline stage whose groups send.

  friend auto operator<=>(const StagePattern&, const StagePattern&) = default;
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

  // Adds the time of each of `parts`, with the messages between servers that
  // are watched.
  void AddTimes(absl::Span<const StepParts> parts,
                std::vector<StageTime>* stages);

  // Returns what StageMessages::pattern counts. It grows with AddTimes().
  const std::vector<StagePattern>& patterns() const { return patterns_; }

  // Times a step that no other follows, without drafts.
  TimePs TimeOf(const StepWork& work) override { return times_.TimeOf(work); }
  void AddStages(absl::Span<const StepWork> ranks,
                 std::vector<StageTime>* stages) override;

 private:
  ReplicaSteps(StepPrices prices, const ServingFacts& facts)
      : prices_(std::move(prices)), times_(prices_, facts) {}

  uint32_t PatternOf(const StagePattern& pattern);

  StepPrices prices_;
  StepTimes times_;
  std::optional<StageTimes> stages_;  // Only with several of them.
  std::optional<DraftTimes> drafts_;  // Only with a model that makes drafts.
  std::vector<StepParts> parts_;      // Kept for their memory.
  int64_t num_stages_ = 1;
  std::vector<StagePattern> patterns_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_REPLICA_STEPS_H_
