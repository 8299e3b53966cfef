// How a pipeline cuts a model, and how much of it is in flight: what depends on
// the stages, the chunks and the schedule only.

#ifndef ASTRA_CORE_PLANNER_PIPELINE_SHAPE_H_
#define ASTRA_CORE_PLANNER_PIPELINE_SHAPE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/planner/layout.h"
#include "workload/generator/model_parts.h"

namespace astra {

struct StageShape {
  std::vector<ModelPart> parts;  // By chunk.
  // By chunk: the micro-batches in flight where the stage holds most blocks.
  std::vector<int64_t> in_flight;
};

struct PipelineCut {
  std::vector<StageShape> stages;
  int64_t most_layers = 0;  // Blocks of the chunk that has most.
  double bubble_share = 0;  // Of the work of a stage; see IdealBubbleShare.
};

class PipelineCuts {
 public:
  explicit PipelineCuts(const PlanJob& job) : job_(job) {}

  // Returns how `layout` with `micro_batches` cuts the model. The result lives
  // as long as the object.
  //
  // Errors: FailedPrecondition where a rule of the schedule is broken, or the
  // blocks do not divide.
  absl::StatusOr<const PipelineCut*> Find(const Layout& layout,
                                          int64_t micro_batches);

 private:
  using Key = std::tuple<const ScheduleRules*, int64_t, int64_t, int64_t>;

  absl::StatusOr<PipelineCut> Make(const Layout& layout,
                                   int64_t micro_batches) const;

  const PlanJob& job_;
  std::map<Key, absl::StatusOr<PipelineCut>> cuts_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_PIPELINE_SHAPE_H_
