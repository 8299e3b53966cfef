// Lines that the summaries of workloads and of programs have in common.

#ifndef ASTRA_CORE_RESULTS_SUMMARY_LINES_H_
#define ASTRA_CORE_RESULTS_SUMMARY_LINES_H_

#include <string>
#include <string_view>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

// Returns text such as "1.500000 ms".
std::string Milliseconds(TimePs time);

// Returns `part` in percent of `total`; 0 if `total` is 0.
double PercentOf(TimePs part, TimePs total);

// Returns a line such as "  compute    1.500000 ms   12.50 %".
std::string TimeLine(std::string_view what, TimePs part, TimePs total);

// Returns, for each dimension, how long the reported rank waited, for which
// collectives, and what bounds them.
std::string CollectiveLines(const Topology& topology,
                            const SimulationResult& result);

// Returns how long it waited for messages between stages. Requires messages.
std::string MessageLines(const Topology& topology,
                         const SimulationResult& result);

// Returns a line on the link with the highest utilisation.
std::string LinkLines(const Topology& topology, const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_SUMMARY_LINES_H_
