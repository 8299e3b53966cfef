// Gives the version of the programs, as CMakeLists.txt states it.

#ifndef ASTRA_CORE_COMMAND_LINE_VERSION_H_
#define ASTRA_CORE_COMMAND_LINE_VERSION_H_

#include <string_view>

namespace astra {

// Returns the version, such as "0.1.0".
std::string_view Version();

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_VERSION_H_
