// Describes the run of an execution trace as a page for people.

#ifndef ASTRA_CORE_RESULTS_TRACE_SUMMARY_H_
#define ASTRA_CORE_RESULTS_TRACE_SUMMARY_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "astra-core/engine/bounds.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

// Returns lines of text on a trace of `num_nodes` nodes: what was run, where
// the time of the rank that finishes last goes, `path`, which may be empty, and
// the bounds.
std::string DescribeTraceRun(size_t num_nodes, const Topology& topology,
                             const SimulationResult& result,
                             absl::Span<const PathPiece> path,
                             const Bounds& bounds);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_TRACE_SUMMARY_H_
