// Finds the devices of this host that libfabric can use, and chooses one.

#ifndef ASTRA_CORE_HOSTS_FABRIC_FABRIC_DEVICE_H_
#define ASTRA_CORE_HOSTS_FABRIC_FABRIC_DEVICE_H_

#include "absl/status/statusor.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"
#include "astra-core/hosts/fabric/libfabric.h"

namespace astra {

// Version of libfabric's interface that these sources are written for.
inline constexpr uint32_t kLibfabricVersion = FI_VERSION(1, 15);

// Returns the description of the device that the wish chooses. Endpoints of it
// are reliable datagram endpoints with remote writes and notices.
//
// Errors: NotFound, with what was looked for and what is there.
absl::StatusOr<FabricInfo> ChooseDevice(const Libfabric& library,
                                        const DeviceWish& wish);

// Returns the provider and the device of a description.
FabricName NameOf(const fi_info& info);

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_FABRIC_FABRIC_DEVICE_H_
