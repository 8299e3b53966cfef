// When the computations of a rank were, to tell when it allocates and releases
// memory.

#ifndef ASTRA_CORE_APPS_RANK_COMPUTATIONS_H_
#define ASTRA_CORE_APPS_RANK_COMPUTATIONS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "workload/memory_events.h"
#include "workload/program.h"

namespace astra {

// The computations of the lowest rank of a stage, by chunk and micro-batch.
class RankComputations {
 public:
  // `result` must outlive this, and may lack a timeline: nothing is known then.
  RankComputations(const SimulationResult& result, int64_t stage);

  bool empty() const { return of_place_.empty(); }

  // Returns the number of micro-batches that were run, or else the least of
  // `program` that reach every level of memory.
  int64_t MicroBatches(const Program& program) const;

  // Returns when an event happens: where the next computation begins for an
  // allocation, and where the one before ended for a release; 0 before the
  // first slot, and never before `now`. Slots that run side by side are listed
  // one behind the other, so events are not all in the order of time.
  TimePs TimeOf(const MemoryEvent& event, TimePs now) const;

 private:
  std::map<std::pair<int32_t, int32_t>, std::vector<const Span*>> of_place_;
  int32_t last_ = -1;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RANK_COMPUTATIONS_H_
