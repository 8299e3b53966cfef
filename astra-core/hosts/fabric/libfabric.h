// Loads libfabric when it is first needed.
//
// Programs are not linked with it. Its providers bring many libraries along, of
// which one (libinfinipath) takes over the signals of every process that it is
// loaded into.

#ifndef ASTRA_CORE_HOSTS_FABRIC_LIBFABRIC_H_
#define ASTRA_CORE_HOSTS_FABRIC_LIBFABRIC_H_

#include <rdma/fabric.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace astra {

// The functions that libfabric exports. All others are reached through the
// objects that these return.
struct Libfabric {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_strerror) strerror = nullptr;

  // Returns the text of an error that a function has returned as -code.
  std::string ErrorText(int64_t code) const;
};

// A description of a provider and a device.
using FabricInfo = std::unique_ptr<fi_info, decltype(&fi_freeinfo)>;

// Returns the functions of the library, which stays loaded.
//
// Errors: NotFound, with the reason of the loader.
absl::StatusOr<Libfabric> LoadLibfabric();

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_FABRIC_LIBFABRIC_H_
