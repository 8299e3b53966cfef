// The lanes on which the ranks of an execution trace communicate: one for each
// group of collectives and each channel of messages, one for the CPU, and one
// for copies. Calls of one lane run one after another.

#ifndef ASTRA_CORE_TRACES_TRACE_LANES_H_
#define ASTRA_CORE_TRACES_TRACE_LANES_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/rank_program.h"
#include "astra-core/engine/result.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Messages of one sender, receiver and tag, which arrive in their order.
struct TraceChannel {
  RankId sender;
  RankId receiver;
  int64_t tag = 0;
  LaneId send_lane;     // Of the sender.
  LaneId receive_lane;  // Of the receiver.
};

// The collectives of one kind and dimension, or all messages.
struct TraceUse {
  std::set<Bytes> sizes;
  std::set<uint32_t> families;  // Of the groups; none of messages.
};

// The groups and channels of a trace, their lanes, and what they are used for.
struct TraceLanes {
  // Groups that may run collectives at once: none shares a rank with another of
  // its family, and all have one size and one dimension. The family is the
  // number of their lane.
  std::vector<std::vector<ProcessGroupId>> families;
  std::vector<uint32_t> family_of_group;  // By group; families.size(): unused.
  std::vector<TraceChannel> channels;     // By sender, receiver and tag.
  uint32_t num_lanes = 0;                 // Of each rank.
  std::map<CostKey, TraceUse> uses;

  LaneId host_lane() const { return LaneId(num_lanes - 2); }
  LaneId memory_lane() const { return LaneId(num_lanes - 1); }

  // Returns the sizes of the collectives and messages.
  CollectiveSizes used() const;
};

// Works this out from all nodes, which takes a while for a large trace.
TraceLanes LanesOf(const ExecutionTrace& trace);

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_TRACE_LANES_H_
