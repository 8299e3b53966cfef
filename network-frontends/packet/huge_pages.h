// Memory for large arrays that are read in no order.
//
//   std::pmr::vector<Port> ports(num_links, HugePages());
//
// A processor finds the memory of an address in a table of pages, of which it
// remembers some thousand. An array of many MiB has more pages of the usual 4
// KiB, so that each access also waits for the table. HugePages() asks the
// system for pages of 2 MiB where an array is large enough; where the system
// has none, memory is as usual.

#ifndef NETWORK_FRONTENDS_PACKET_HUGE_PAGES_H_
#define NETWORK_FRONTENDS_PACKET_HUGE_PAGES_H_

#include <memory_resource>

namespace astra {

// Returns the source of such memory. It has no state and is never destroyed.
std::pmr::memory_resource* HugePages();

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_HUGE_PAGES_H_
