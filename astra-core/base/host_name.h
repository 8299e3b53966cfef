// Tells which machine this is.

#ifndef ASTRA_CORE_BASE_HOST_NAME_H_
#define ASTRA_CORE_BASE_HOST_NAME_H_

#include <string>

namespace astra {

// Returns the name that this host has for itself; empty if it has none.
std::string HostName();

}  // namespace astra

#endif  // ASTRA_CORE_BASE_HOST_NAME_H_
