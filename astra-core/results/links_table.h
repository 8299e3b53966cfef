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

// Returns the bytes that `link` carried over those that it could have carried
// in the total time; 0 for a run without time. In closed form it is above 1
// where collectives of different groups overlap on the link, since the model
// slows neither.
double UtilisationOf(LinkId link, const Topology& topology,
                     const SimulationResult& result);

// Returns the link with the highest utilisation, the lowest of equals.
LinkId BusiestLink(const Topology& topology, const SimulationResult& result);

// Returns the file. What a network knows of its links has columns of its own:
// they are there if `network` has links, which it has simulated until
// `network_time`.
std::string LinksCsv(const Topology& topology, const SimulationResult& result,
                     const NetworkStatistics& network = {},
                     TimePs network_time = {});

void AppendLinksColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_LINKS_TABLE_H_
