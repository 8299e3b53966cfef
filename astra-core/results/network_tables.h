// The result files that say what the network did, a line for each thing that
// was recorded: flows.csv, queues.csv, rates.csv, pfc.csv and cnp.csv.

#ifndef ASTRA_CORE_RESULTS_NETWORK_TABLES_H_
#define ASTRA_CORE_RESULTS_NETWORK_TABLES_H_

#include <string>
#include <vector>

#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

// Returns flows.csv. A message has the name of the collective of `result` in
// which both its ranks, or the one where a switch is the other end, took part
// while it was under way. It has no name if there are several.
std::string FlowsCsv(const Topology& topology, const ParallelPlan& plan,
                     const SimulationResult& result,
                     const NetworkStatistics& network);

std::string QueuesCsv(const Topology& topology,
                      const NetworkStatistics& network);
std::string RatesCsv(const NetworkStatistics& network);
std::string PfcCsv(const Topology& topology, const NetworkStatistics& network);
std::string CnpCsv(const NetworkStatistics& network);

void AppendNetworkColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_NETWORK_TABLES_H_
