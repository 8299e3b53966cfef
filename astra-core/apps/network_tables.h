// The result files of simai_simulator that say what the network did, a line for
// each thing that was recorded: flows.csv, queues.csv, rates.csv, pfc.csv and
// cnp.csv.

#ifndef ASTRA_CORE_APPS_NETWORK_TABLES_H_
#define ASTRA_CORE_APPS_NETWORK_TABLES_H_

#include <string>

#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

// A message is of the collective of `result` that both its ranks, or the one
// where a switch is the other end, took part in while it was under way; without
// a name if there are several.
std::string FlowsCsv(const Topology& topology, const ParallelPlan& plan,
                     const SimulationResult& result,
                     const NetworkStatistics& network);

std::string QueuesCsv(const Topology& topology,
                      const NetworkStatistics& network);
std::string RatesCsv(const NetworkStatistics& network);
std::string PfcCsv(const Topology& topology, const NetworkStatistics& network);
std::string CnpCsv(const NetworkStatistics& network);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_NETWORK_TABLES_H_
