// Which machine this is.

#ifndef ASTRA_CORE_BASE_HOST_NAME_H_
#define ASTRA_CORE_BASE_HOST_NAME_H_

#include <string>

namespace astra {

// The name of this host as it knows itself; empty where it has none.
std::string HostName();

}  // namespace astra

#endif  // ASTRA_CORE_BASE_HOST_NAME_H_
