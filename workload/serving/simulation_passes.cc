#include <algorithm>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "workload/serving/serving_simulation.h"
#include "workload/serving/stage_network.h"

namespace astra {

// Tells of a step whose duration is known.
void ServingSimulation::Record(absl::Span<const StepRecord> records,
                               const std::vector<Batch>& batches) {
  for (const StepRecord& record : records) observer_->OnStep(record);
  for (const Batch& batch : batches) {
    for (const BatchPart& part : batch) {
      part.sequence->times.executed += records.front().duration;
    }
  }
}

// Lets steps enter the stages that are free, and compute there.
void ServingSimulation::BeginPasses(uint32_t worker) {
  const Pool& pool = PoolOf(worker);
  entered_.clear();
  lines_[worker].Advance(&entered_);
  for (const uint32_t stage : entered_) {
    const StageTime& pass = lines_[worker].on(stage);
    const uint32_t id = stage * static_cast<uint32_t>(workers_.size()) + worker;
    if (pass.messages.empty()) {
      PushAfter(pass.time, kPassEnd, id);
      continue;
    }
    const TimePs alone = pool.options.network->TimeAlone(
        worker - pool.first_worker, pass.messages);
    PushAfter(std::max(TimePs(0), pass.time - alone), kPassMessages, id);
  }
}

void ServingSimulation::SendOfPass(uint32_t id) {
  const uint32_t worker = WorkerOf(id);
  const Pool& pool = PoolOf(worker);
  pool.options.network->Start(id, worker - pool.first_worker,
                              lines_[worker].on(StageOf(id)).messages);
}

void ServingSimulation::EndPassOf(uint32_t id) {
  const uint32_t worker = WorkerOf(id);
  std::optional<std::vector<StepRecord>> records =
      lines_[worker].Leave(StageOf(id));
  BeginPasses(worker);
  if (!records) return;
  for (StepRecord& record : *records) record.duration = now_ - record.start;
  Record(*records, workers_[worker].oldest());
  EndStep(worker);
}

void ServingSimulation::LoadWeights() {
  if (!options_.load_weights) return;
  for (uint32_t worker = 0; worker < workers_.size(); ++worker) {
    const std::optional<TimePs> time = options_.load_weights(worker);
    if (time == TimePs(0)) continue;
    is_loading_[worker] = true;
    ++num_loading_;
    if (time) PushAfter(*time, kWeightsEnd, worker);
  }
}

}  // namespace astra
