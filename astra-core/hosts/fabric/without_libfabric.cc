// Stands in for libfabric where its headers were missing when this program was
// built.

#include "absl/status/statusor.h"
#include "astra-core/hosts/fabric/fabric_endpoint.h"

namespace astra {

absl::Status CheckFabricIsBuilt() {
  return absl::UnimplementedError(
      "this program was built without libfabric, which sends over RDMA: build "
      "it where libfabric-dev is installed, or use --transport tcp");
}

absl::StatusOr<std::unique_ptr<FabricEndpoint>> OpenFabricEndpoint(
    const DeviceWish& /*wish*/) {
  return CheckFabricIsBuilt();
}

}  // namespace astra
