// Draws a run as a timeline for Perfetto or chrome://tracing.

#ifndef ASTRA_CORE_APPS_CHROME_TRACE_H_
#define ASTRA_CORE_APPS_CHROME_TRACE_H_

#include <string>

#include "astra-core/apps/run_subject.h"
#include "astra-core/run/run.h"

namespace astra {

// Largest number of slices of collectives; a browser shows no more.
inline constexpr int64_t kMaxTraceSlices = 1'000'000;

// Returns JSON in the trace event format, with these groups of tracks:
//
//   each rank    what it did and waited for, of a result with a timeline; see
//                iteration_trace.h
//   ranks        without, of a program: what collectives each takes part in,
//   from the joining
//                of the first of its group to the result of the last
//   collectives  the same, a track for each group
//   links        Gbps of the links that carry most, where flows were recorded:
//                each message evenly over its time
//   queues       kB before the links with the longest queues, where queues were
//                sampled
//   memory       GiB allocated on a rank of each stage, where the program says
//                what modules keep
std::string ChromeTrace(const RunSubject& subject, const RunResult& run);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_CHROME_TRACE_H_
