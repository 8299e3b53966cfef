// Ranks of a replica that step together, and their steps under way.
//
//   Worker worker(options, ranks, /*first_replica=*/0, /*decodes=*/false);
//   while (!worker.is_full() && worker.Start(now)) ...  // worker.records()
//   for (const Load& load : worker.loads()) ...         // Begun by Start().
//   const std::vector<Batch>& batches = worker.End();   // A batch for each
//   rank.
//
// Model. Each rank forms a batch from its own queue and cache. A step is under
// way until it has passed all pipeline stages, one after the other: it enters a
// stage once it has left the one before and the step ahead has left this one.
// Steps end in the order in which they start. With a StageNetwork, the caller
// lets them pass the stages(); see stage_line.h.

#ifndef WORKLOAD_SERVING_WORKER_H_
#define WORKLOAD_SERVING_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/base/units.h"
#include "workload/serving/pool.h"
#include "workload/serving/prefill_delay.h"
#include "workload/serving/replica.h"
#include "workload/serving/step.h"

namespace astra {

// What a sequence loads from the host's memory, and when that ends.
struct Load {
  Sequence* sequence = nullptr;
  Replica* replica = nullptr;
  TimePs end;
};

class Worker {
 public:
  // `options` and the ranks must outlive the object. `first_replica` is the
  // number of the first rank over all pools.
  Worker(const PoolOptions& options, std::vector<Replica*> ranks,
         uint32_t first_replica, bool is_decode_pool);

  bool is_full() const { return under_way_ == steps_.size(); }
  const std::vector<Replica*>& ranks() const { return ranks_; }

  // Forms the next step and begins it. Returns false if there is nothing to do.
  // Requires that fewer steps than allowed are under way.
  bool Start(TimePs now);

  // Returns the batch of each rank of the step that started last, which must be
  // under way.
  const std::vector<Batch>& started() const {
    return steps_[(oldest_ + under_way_ - 1) % steps_.size()];
  }

  // Returns the batch of each rank of the step that ends next, which must be
  // under way.
  const std::vector<Batch>& oldest() const { return steps_[oldest_]; }

  // Returns the records of the ranks that take part in the step that started
  // last. All have the same duration; with a StageNetwork, that of a step which
  // waits for nothing.
  const std::vector<StepRecord>& records() const { return records_; }

  // Returns the times of the step that started last.
  const std::vector<StageTime>& stages() const { return stages_; }

  // Returns what the last Start() has begun to load, whether or not it returned
  // true.
  const std::vector<Load>& loads() const { return loads_; }

  // Ends the step that started first. Returns the batch of each rank, which
  // stay valid until the next Start(). Requires that a step is under way.
  const std::vector<Batch>& End();

 private:
  void Form(TimePs now, std::vector<Batch>* batches);
  void FormRanks(TimePs now, bool may_start_prompts,
                 std::vector<Batch>* batches);
  void FormBatch(TimePs now, size_t rank, Batch* batch);
  void StartLoads(TimePs now, size_t rank);
  // Returns how long the step of works_ takes from `now` on.
  TimePs PassStages(TimePs now);

  const PoolOptions& options_;
  std::vector<Replica*> ranks_;
  uint32_t first_replica_;
  bool is_decode_pool_;
  std::vector<std::vector<Batch>> steps_;  // A ring.
  size_t oldest_ = 0;                      // The step that ends next.
  size_t under_way_ = 0;
  PrefillDelay delay_;
  int64_t steps_begun_ = 0;  // Since there was nothing to do.
  // When each stage ends what it has been given; empty before the first step.
  std::vector<TimePs> stage_ends_;
  // Kept for their memory.
  std::vector<StepWork> works_;  // Of each rank.
  std::vector<StageTime> stages_;
  std::vector<StepRecord> records_;
  std::vector<Load> loads_;
  std::vector<TimePs> link_ends_;  // Of each rank: when its link is free.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_WORKER_H_
