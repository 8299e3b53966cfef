// Describes a simulated network in the summary of a run: what each tier of
// links carried, whether equal-cost links were used evenly, and whether packets
// met congestion.

#ifndef ASTRA_CORE_APPS_NETWORK_SUMMARY_H_
#define ASTRA_CORE_APPS_NETWORK_SUMMARY_H_

#include <string>
#include <string_view>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// Returns a line for each tier of links with the bytes that it carried. It
// needs no records of a network, only the totals of `result`.
std::string DescribeLinkUse(const Topology& topology,
                            const SimulationResult& result);

// Returns lines of text, each with its line feed. `network` was simulated until
// `end`. `congestion_control` is empty for a network without packets.
std::string DescribeNetworkUse(const Topology& topology,
                               const NetworkStatistics& network, TimePs end,
                               std::string_view congestion_control);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_NETWORK_SUMMARY_H_
