// The order in which people sort names with numbers: node2 before node10.

#ifndef TOPOLOGY_DISCOVERED_NATURAL_ORDER_H_
#define TOPOLOGY_DISCOVERED_NATURAL_ORDER_H_

#include <string_view>

namespace astra {

// Returns whether `a` comes before `b`. Runs of digits compare as numbers, all
// else compares by character; of names that are then equal, such as n1 and
// n01, the one that is less as text comes first.
bool IsNaturallyLess(std::string_view a, std::string_view b);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_NATURAL_ORDER_H_
