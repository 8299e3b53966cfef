// Describes the result of a run as a page for people.

#ifndef ASTRA_CORE_RESULTS_SUMMARY_H_
#define ASTRA_CORE_RESULTS_SUMMARY_H_

#include <cstdint>
#include <string>

#include "astra-core/engine/result.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

// Returns lines of text, each ended by a line feed, that describe what was run:
// sizes, layout, compute and bytes per rank.
std::string DescribeRun(const Program& program, const Topology& topology,
                        const SimulationResult& result);

// Returns the lines of DescribeRun() about the cluster and the ranks that were
// simulated, of `num_ranks`.
std::string DescribeCluster(const Topology& topology, int64_t num_ranks,
                            const SimulationResult& result);

// Returns where the time of the iteration goes, and what bounds each part.
std::string DescribeTime(const Topology& topology,
                         const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_SUMMARY_H_
