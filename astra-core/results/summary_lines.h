// Lines that the summaries of workloads and of programs have in common.

#ifndef ASTRA_CORE_RESULTS_SUMMARY_LINES_H_
#define ASTRA_CORE_RESULTS_SUMMARY_LINES_H_

#include <string>
#include <string_view>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "topology/topology.h"

namespace astra {

// "1.500000 ms".
std::string Milliseconds(TimePs time);

// `part` as hundredths of `total`; 0 if that is.
double PercentOf(TimePs part, TimePs total);

// "  compute    1.500000 ms   12.50 %".
std::string TimeLine(std::string_view what, TimePs part, TimePs total);

// For each dimension how long the reported rank waited, for which collectives
// and what bounds them.
std::string CollectiveLines(const Topology& topology,
                            const SimulationResult& result);

// The same for the messages between stages. Requires that there are some.
std::string MessageLines(const Topology& topology,
                         const SimulationResult& result);

// The link with the highest utilisation.
std::string LinkLines(const Topology& topology, const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_SUMMARY_LINES_H_
