// Adds counters to a trace: values over time, which viewers draw as curves. All
// counters of one function belong to one process of the trace.

#ifndef ASTRA_CORE_APPS_TRACE_COUNTERS_H_
#define ASTRA_CORE_APPS_TRACE_COUNTERS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/apps/trace_events.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

// Adds the Gbps of the links that carry most, each message evenly over its
// time; nothing if no messages were recorded.
void AddLinks(const Topology& topology, const NetworkStatistics& network,
              uint64_t process, TraceEvents& events);

// Adds the kB before the links with the longest queues, which were sampled at
// `interval`. An empty queue has no sample, so a value ends where the next
// sample would be.
void AddQueues(const Topology& topology, const NetworkStatistics& network,
               TimePs interval, uint64_t process, TraceEvents& events);

// Most allocations and releases that AddMemory() follows, over all stages.
inline constexpr size_t kMaxMemoryChanges = 200'000;

// Adds the GiB allocated on a rank of each stage, as they change. Returns how
// many changes are left out.
int64_t AddMemory(const Program& program,
                  absl::Span<const StageMemory> memories,
                  const SimulationResult& result, uint64_t process,
                  TraceEvents& events);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_COUNTERS_H_
