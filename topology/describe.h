// A topology in a few lines that a person can check.

#ifndef TOPOLOGY_DESCRIBE_H_
#define TOPOLOGY_DESCRIBE_H_

#include <string>

#include "topology/topology.h"

namespace astra {

// Lists the GPUs and servers, each tier of switches with its bandwidth down and
// up, and the oversubscription: bandwidth down over bandwidth up. One line
// each, the last one with its line feed.
std::string DescribeTopology(const Topology& topology);

}  // namespace astra

#endif  // TOPOLOGY_DESCRIBE_H_
