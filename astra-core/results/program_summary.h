// The result of a program as a page that a person can follow.

#ifndef ASTRA_CORE_RESULTS_PROGRAM_SUMMARY_H_
#define ASTRA_CORE_RESULTS_PROGRAM_SUMMARY_H_

#include <string>

#include "absl/types/span.h"
#include "astra-core/engine/bounds.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

// What a schedule leaves idle, as a share of a stage's work, if all stages are
// alike and messages take no time; where the backward is in two halves, if
// these and the forward take equally long. See workload/pipeline/schedule.h.
double IdealBubbleShare(const Program& program);

// What the reported rank waited for messages that were not sent yet, the same
// way: of what it computed and waited for collectives.
double BubbleShare(const SimulationResult& result);

// Where the time of the iteration goes, and why it takes as long: of the
// reported rank, of each stage, along `path`, which may be empty; the rates,
// and the bounds. Lines of text.
std::string DescribeTime(const Program& program, const Topology& topology,
                         const SimulationResult& result,
                         absl::Span<const PathPiece> path,
                         const Bounds& bounds);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_PROGRAM_SUMMARY_H_
