#include "astra-core/command_line/version.h"

namespace astra {

std::string_view Version() { return SIMAI_CPP_VERSION; }

}  // namespace astra
