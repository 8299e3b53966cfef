// The ranks of an execution trace as programs of the engine.
//
// The graph of a rank becomes lanes on which things happen one after another:
// its kernels, and the lanes of trace_lanes.h. A kernel waits for what it
// depends on in other lanes, and so does the first call of each lane. A call
// starts as soon as that has ended, whatever the kernels do meanwhile.

#ifndef ASTRA_CORE_TRACES_TRACE_PROGRAM_H_
#define ASTRA_CORE_TRACES_TRACE_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/traces/trace_lanes.h"
#include "workload/traces/execution_trace.h"

namespace astra {

class TraceProgram final : public RankProgram {
 public:
  // Both must outlive the object. Requires what execution_trace.h says of the
  // order of nodes.
  TraceProgram(const ExecutionTrace& trace, const TraceLanes& lanes);

  // Each rank is a stage of its own.
  uint32_t num_stages() const override {
    return static_cast<uint32_t>(ranks_.size());
  }
  uint32_t num_lanes() const override { return lanes_.num_lanes; }
  OpStream Begin(uint32_t stage) const override;

 private:
  // A node that starts, or a wait for a lane before the next kernel.
  struct Step {
    static constexpr uint32_t kNoNode = UINT32_MAX;

    uint32_t node = kNoNode;
    LaneId lane{};       // Of a wait, or of what is no kernel.
    uint32_t ended = 0;  // Of a wait: calls of the lane.
    uint32_t first_after = 0;
    uint32_t num_after = 0;
  };
  struct Rank {
    std::vector<Step> steps;
    std::vector<LaneProgress> after;
  };
  class RankBuilder;

  Op OpOf(uint32_t rank, const Step& step) const;

  const ExecutionTrace& trace_;
  const TraceLanes& lanes_;
  std::vector<Rank> ranks_;
};

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_TRACE_PROGRAM_H_
