// The sections of report.html about a simulated network; see run_report.h. Each
// function adds its charts to the page and returns HTML, empty if there is
// nothing to show.

#ifndef ASTRA_CORE_APPS_NETWORK_CHARTS_H_
#define ASTRA_CORE_APPS_NETWORK_CHARTS_H_

#include <optional>
#include <string>

#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/pages/page.h"
#include "astra-core/results/message_times.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// Draws the topology with the load of its links, and lists the busiest links.
std::string LinksSection(const Topology& topology,
                         const SimulationResult& result);

// Shows the links with the longest queues: what they held at most, marked,
// dropped and paused; and, if they were sampled at `interval`, queues and
// sending rates over time.
std::string QueuesSection(const Topology& topology,
                          const NetworkStatistics& network,
                          std::optional<TimePs> interval, Page& page);

// Shows how long messages took, and how much longer than alone on their paths.
std::string MessagesSection(const MessageTimes& messages, Page& page);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_NETWORK_CHARTS_H_
