// Reads the sections `servers` and `nics` of the file of `gen_topo --fabric`.

#ifndef TOPOLOGY_FABRICS_SERVER_FIELDS_H_
#define TOPOLOGY_FABRICS_SERVER_FIELDS_H_

#include <string_view>

#include "astra-core/base/log.h"
#include "astra-core/base/yaml_reader.h"
#include "topology/fabrics/server.h"

namespace astra {

struct ServerFields {
  ServerSpec servers;
  NicSpec nics;
};

// Reads `servers` and `nics` from the fields at the root of a fabric. What a
// key says goes before what the type of server says, and `warnings` tells of
// it; `file` is the name of the file there. Errors are recorded in the document
// of `root`.
ServerFields ReadServerFields(std::string_view file,
                              const ServerTypeSources& sources,
                              YamlFields& root, Warnings* warnings);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_SERVER_FIELDS_H_
