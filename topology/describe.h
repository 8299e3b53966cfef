// Describes a topology in a few lines that a person can check.

#ifndef TOPOLOGY_DESCRIBE_H_
#define TOPOLOGY_DESCRIBE_H_

#include <string>
#include <vector>

#include "topology/topology.h"

namespace astra {

// Returns the GPUs and servers, each tier of switches with its bandwidth down
// and up, and the oversubscription (bandwidth down over bandwidth up). Each
// takes a line, and every line ends with a line feed.
std::string DescribeTopology(const Topology& topology);

// Returns a text for each tier of fabric switches that has less bandwidth up
// than down, such as "tier 1 (ASW) is oversubscribed 2:1: 800 Gbps down, 400
// Gbps up".
std::vector<std::string> Oversubscriptions(const Topology& topology);

}  // namespace astra

#endif  // TOPOLOGY_DESCRIBE_H_
