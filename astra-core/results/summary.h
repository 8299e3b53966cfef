// The result of a run as a page that a person can follow.

#ifndef ASTRA_CORE_RESULTS_SUMMARY_H_
#define ASTRA_CORE_RESULTS_SUMMARY_H_

#include <string>

#include "astra-core/engine/result.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

// What was run, as understood: sizes, layout, compute and bytes per rank. Lines
// of text, each ended by a line feed.
std::string DescribeRun(const Program& program, const Topology& topology,
                        const SimulationResult& result);

// Where the time of the iteration goes, and what bounds each part.
std::string DescribeTime(const Topology& topology,
                         const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_SUMMARY_H_
