// The result files of the network: flows.csv, queues.csv, rates.csv, pfc.csv
// and cnp.csv, with a line for each record.

#ifndef ASTRA_CORE_RESULTS_NETWORK_TABLES_H_
#define ASTRA_CORE_RESULTS_NETWORK_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/results/table.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// Returns the first line of flows.csv with a line for each message.
std::string FlowsHeader();

// Appends the line of a message that took `path`. `collective` is the layer or
// module that it is of, empty for background traffic.
void AppendFlow(const FlowRecord& flow, absl::Span<const LinkId> path,
                std::string_view collective, const Topology& topology,
                std::string* text);

std::string QueuesCsv(const Topology& topology,
                      const NetworkStatistics& network);
std::string RatesCsv(const NetworkStatistics& network);
std::string PfcCsv(const Topology& topology, const NetworkStatistics& network);
std::string CnpCsv(const NetworkStatistics& network);

void AppendNetworkColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_NETWORK_TABLES_H_
