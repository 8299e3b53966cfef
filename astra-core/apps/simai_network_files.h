// Formats fct.txt and pfc.txt as SimAI's ns-3 backend writes them.
//
// Source: SimAI 1.6, astra-sim/network_frontend/ns3/entry.h (qp_finish) and
// common.h (get_pfc).

#ifndef ASTRA_CORE_APPS_SIMAI_NETWORK_FILES_H_
#define ASTRA_CORE_APPS_SIMAI_NETWORK_FILES_H_

#include <string>

#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

// Returns a line for each message, in the order of arrival:
//
//   SOURCE_IP TARGET_IP SOURCE_PORT TARGET_PORT BYTES START_NS FCT_NS ALONE_NS
//
// Node n has the address 0b000001 + (n / 256) 2^16 + (n mod 256) 2^8, in
// hexadecimal. Source ports number the messages between two nodes from 10000
// on, in the order of sending. They go beyond 65535, unlike SimAI's.
std::string SimaiFctText(const NetworkStatistics& network);

// Returns a line for each pause and resume that has reached a node:
//
//   TIME_NS NODE TYPE PORT 1|0
//
// TYPE is 0 for a GPU, 1 for a switch, 2 for an NVSwitch. PORT numbers the
// cables of a node from 1 on.
std::string SimaiPfcText(const Topology& topology,
                         const NetworkStatistics& network);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_NETWORK_FILES_H_
