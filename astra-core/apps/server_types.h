// Types of server that fabrics may name: the systems of inputs/systems, and
// topology files of NCCL.

#ifndef ASTRA_CORE_APPS_SERVER_TYPES_H_
#define ASTRA_CORE_APPS_SERVER_TYPES_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "collectives/systems/system_spec.h"
#include "topology/fabrics/server.h"

namespace astra {

// Returns the servers of a system: its GPUs, NVLink or PCIe, and NICs, with the
// rates of the data sheets.
//
//   NVSwitches, PCIe   one switch that every GPU has its whole rate to
//   links of GPUs      a cable between each two GPUs, with the rate of a GPU
//                      divided among the others
//   fewer NICs         successive GPUs share a NIC
//
// Errors: InvalidArgument if the GPUs and NICs of a server do not divide one
// another.
absl::StatusOr<ServerType> ServerTypeOf(const SystemSpec& system);

// Returns the sources of types for a file in `folder`, which paths in the file
// are relative to. `warnings` must outlive the sources.
ServerTypeSources ServerTypesFor(const std::string& folder, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVER_TYPES_H_
