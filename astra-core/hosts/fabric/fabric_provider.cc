#include <algorithm>
#include <iterator>
#include <string_view>

#include "astra-core/hosts/fabric/fabric_endpoint.h"

namespace astra {
namespace {

// Names of the providers that need a device, without the layers that libfabric
// puts on them.
constexpr std::string_view kDeviceProviders[] = {"cxi",  "efa",  "opx",  "psm",
                                                 "psm2", "psm3", "verbs"};

}  // namespace

bool IsRdmaProvider(std::string_view provider) {
  const std::string_view core = provider.substr(0, provider.find(';'));
  return std::find(std::begin(kDeviceProviders), std::end(kDeviceProviders),
                   core) != std::end(kDeviceProviders);
}

}  // namespace astra
