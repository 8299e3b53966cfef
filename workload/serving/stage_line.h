// Steps of a replica on their way through its pipeline stages, where a network
// decides when each of them leaves a stage.
//
//   line.Enter({stages, records});
//   line.Advance(&entered);          // Stages that a step has just entered.
//   line.on(stage);                  // What the step does there.
//   if (auto records = line.Leave(stage)) ...  // It was the last stage.
//
// A step enters a stage once it has left the one before and the step ahead has
// left this one, as in worker.h.

#ifndef WORKLOAD_SERVING_STAGE_LINE_H_
#define WORKLOAD_SERVING_STAGE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "workload/serving/pool.h"
#include "workload/serving/step.h"

namespace astra {

class StageLine {
 public:
  struct Step {
    std::vector<StageTime> stages;
    std::vector<StepRecord> records;
  };

  // Adds a step behind all others.
  void Enter(Step step) { steps_.push_back({std::move(step)}); }

  // Lets steps enter the stages that are free, and appends these stages.
  void Advance(std::vector<uint32_t>* entered);

  // Returns what the step on `stage` does there. Requires that there is one.
  const StageTime& on(uint32_t stage) const;

  // Takes the step on `stage` from it. Returns the records of the step if this
  // was its last stage. Requires that there is a step on `stage`.
  std::optional<std::vector<StepRecord>> Leave(uint32_t stage);

 private:
  struct Place {
    Step step;
    size_t passed = 0;  // Stages that the step has left.
    bool is_on_stage = false;
  };

  size_t PlaceOn(uint32_t stage) const;

  std::deque<Place> steps_;  // In the order in which they entered.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_STAGE_LINE_H_
