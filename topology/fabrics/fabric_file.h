// Reads the file of `gen_topo --fabric`.
//
//   simai_fabric: 1
//   servers: {type: dgx-h100, count: 64}
//   fabric:
//     kind: fat-tree
//     rails: true
//     tiers: [{down: 32, oversubscription: 2}, {down: 64}]
//
// docs/guide/fabrics.md has all keys.

#ifndef TOPOLOGY_FABRICS_FABRIC_FILE_H_
#define TOPOLOGY_FABRICS_FABRIC_FILE_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "topology/fabrics/fabric.h"

namespace astra {

// Parses `contents`; `file` names it in messages. Where a key says other than
// the type of server that the file names, the key counts, and `warnings` tells
// of it.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is missing, unknown
// or wrong.
absl::StatusOr<FabricSpec> ParseFabric(std::string_view file,
                                       std::string_view contents,
                                       const ServerTypeSources& sources,
                                       Warnings* warnings);

// Returns `error`, which DrawFabric() returned for the fabric that
// ParseFabric() read from `contents`, with the line and column of the field at
// fault.
absl::Status AtFabricField(std::string_view file, std::string_view contents,
                           const absl::Status& error);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_FABRIC_FILE_H_
