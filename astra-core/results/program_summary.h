// Describes the result of a program as a page for people.

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

// Returns the idle share of a stage's work that the schedule of `program`
// leaves if stages are alike, messages take no time, and the halves of a split
// backward take as long as the forward each. See workload/pipeline/schedule.h.
double IdealBubbleShare(const Program& program);

// Returns the time that the reported rank waited for messages not sent yet, as
// a share of its time for computation and collectives.
double BubbleShare(const SimulationResult& result);

// Returns lines of text that explain the time of the iteration: of the reported
// rank, of each stage, and along `path`, which may be empty; then the rates and
// the bounds.
std::string DescribeTime(const Program& program, const Topology& topology,
                         const SimulationResult& result,
                         absl::Span<const PathPiece> path,
                         const Bounds& bounds);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_PROGRAM_SUMMARY_H_
