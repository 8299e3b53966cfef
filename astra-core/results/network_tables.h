// The result files of the network: flows.csv, queues.csv, rates.csv, pfc.csv
// and cnp.csv, with a line for each record.

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

// Returns flows.csv. A message is named after the collective of `result` in
// which its ranks took part while it was under way: both, or one where the
// other end is a switch. Without exactly one such collective it has no name.
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
