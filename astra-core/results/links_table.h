// links.csv: a line for each direction of each link, and which link is busiest.

#ifndef ASTRA_CORE_RESULTS_LINKS_TABLE_H_
#define ASTRA_CORE_RESULTS_LINKS_TABLE_H_

#include <string>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// Returns the bytes that `link` carried, divided by the bytes that it could
// have carried in the total time; 0 for a run without time. In closed form the
// utilisation may exceed 1, because collectives of different groups that
// overlap on the link do not slow each other.
double UtilisationOf(LinkId link, const Topology& topology,
                     const SimulationResult& result);

// Returns the link with the highest utilisation; the lowest of several.
LinkId BusiestLink(const Topology& topology, const SimulationResult& result);

// Returns the file. It has additional columns if `network`, which was simulated
// until `network_time`, has records of links.
std::string LinksCsv(const Topology& topology, const SimulationResult& result,
                     const NetworkStatistics& network = {},
                     TimePs network_time = {});

void AppendLinksColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_LINKS_TABLE_H_
