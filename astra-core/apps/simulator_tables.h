// The result files of simai_simulator that say what the workload did:
// collectives.csv, EndToEnd.csv and links.csv.

#ifndef ASTRA_CORE_APPS_SIMULATOR_TABLES_H_
#define ASTRA_CORE_APPS_SIMULATOR_TABLES_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/engine/report.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// The header of collectives.csv, and the line of one collective of `layer`.
std::string_view SimulatedCollectivesHeader();
std::string SimulatedCollectiveRow(const CollectiveRecord& record,
                                   std::string_view layer);

// All of the file, in the order of the result.
std::string SimulatedCollectivesCsv(const SimulationResult& result);

// EndToEnd.csv: the slowest, the median and the fastest rank, then SimAI's
// layout for the slowest.
std::string AllRanksCsv(std::string_view name, const SimulationResult& result);

// links.csv with what the network knows of each link, which it has simulated
// until `network_time`.
std::string SimulatedLinksCsv(const Topology& topology,
                              const SimulationResult& result,
                              const NetworkStatistics& network,
                              TimePs network_time);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_TABLES_H_
